/**
 * An editor for agents that speak ACP: it starts the agent behind Rollcall's proxy, and hears what
 * the agent says. As much of the protocol as the moments need.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { field, parseJson } from "../../src/core/text.ts";
import { until } from "../tour/until.ts";
import type { Stage } from "./stage.ts";

/** On a busy machine a large program takes minutes to its first answer. */
const PATIENCE_MS = 180_000;

export class Editor implements AsyncDisposable {
  readonly #agent: ChildProcess;
  readonly #heard: unknown[] = [];
  #asked = 0;
  #sessionId: unknown;

  constructor(stage: Stage, command: readonly string[]) {
    const rollcall = join(stage.rollcall, "dist/bin/rollcall.cjs");
    this.#agent = spawn(process.execPath, [rollcall, "acp", "--", ...command], {
      cwd: stage.project,
      env: stage.env,
      stdio: ["pipe", "pipe", "ignore"],
    });
    const { stdout } = this.#agent;
    // One that is killed may leave half a line, which says nothing.
    if (stdout) createInterface(stdout).on("line", (line) => this.#heard.push(parseJson(line)));
  }

  /** From the first word to a session, in which it signs in where the agent wants that. */
  async open(cwd: string, methodId?: string): Promise<void> {
    await this.#call("initialize", {
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    });
    if (methodId !== undefined) await this.#call("authenticate", { methodId });
    const opened = await this.#call("session/new", { cwd, mcpServers: [] });
    this.#sessionId = field(opened, "sessionId");
  }

  /** Resolves when the turn is over, to how it ended. */
  async prompt(text: string): Promise<unknown> {
    const prompt = [{ type: "text", text }];
    return this.#call("session/prompt", { sessionId: this.#sessionId, prompt });
  }

  cancel(): void {
    this.#say({ method: "session/cancel", params: { sessionId: this.#sessionId } });
  }

  /** Until the agent says something that has these words in it. */
  async hears(words: string): Promise<void> {
    await until(words, () => JSON.stringify(this.#heard).includes(words) || undefined);
  }

  /** The answer to the permission that was asked for last, by the kind of the option. */
  async answer(kind: "allow_once" | "reject_once"): Promise<void> {
    const request = await until("a permission", () =>
      this.#heard.findLast((each) => field(each, "method") === "session/request_permission"),
    );
    const options = field(field(request, "params"), "options") as readonly unknown[];
    const option = options.find((each) => field(each, "kind") === kind);
    const outcome = { outcome: "selected", optionId: field(option, "optionId") };
    this.#say({ id: field(request, "id"), result: { outcome } });
  }

  /** What was heard so far is of no interest any more. */
  forget(): void {
    this.#heard.length = 0;
  }

  /** No more will be said; resolves when the agent has ended. */
  async close(): Promise<void> {
    const ended = once(this.#agent, "exit");
    this.#agent.stdin?.end();
    await ended;
  }

  kill(): void {
    this.#agent.kill("SIGKILL");
  }

  async #call(method: string, params: object): Promise<unknown> {
    this.#asked += 1;
    const id = `editor-${this.#asked}`;
    this.#say({ id, method, params });
    const isAnswer = (each: unknown) => field(each, "id") === id && !field(each, "method");
    const look = () => this.#heard.find(isAnswer);
    const answer = await until(`an answer to ${method}`, look, { withinMs: PATIENCE_MS });
    return field(answer, "result") ?? field(answer, "error");
  }

  #say(message: object): void {
    this.#agent.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#agent.kill("SIGKILL");
    return Promise.resolve();
  }
}
