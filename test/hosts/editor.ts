/**
 * An editor for agents that speak ACP: it starts the agent behind Rollcall's proxy, and hears what
 * the agent says. As much of the protocol as the moments need.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { createHash, type Hash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { field, parseJson } from "../../src/core/text.ts";
import { until } from "../tour/until.ts";
import type { Stage } from "./stage.ts";

/** On a busy machine a large program takes minutes to its first answer. */
const PATIENCE_MS = 180_000;

/** Beside the agent, as far from the editor as it gets: $0 is what it reads, $1 what it writes. */
const TAP = 'tee "$0" | "${@:2}" | tee "$1"';

export class Editor implements AsyncDisposable {
  readonly #agent: ChildProcess;
  /** The bytes that it wrote and read; what the agent read and wrote is in these files. */
  readonly #wire = { wrote: createHash("sha256"), read: createHash("sha256") };
  readonly #files: { readonly read: string; readonly wrote: string };
  readonly #heard: unknown[] = [];
  #asked = 0;
  #sessionId: unknown;

  constructor(stage: Stage, command: readonly string[]) {
    const rollcall = join(stage.rollcall, "dist/bin/rollcall.cjs");
    const folder = mkdtempSync(join(stage.home, "wire-"));
    this.#files = { read: join(folder, "read"), wrote: join(folder, "wrote") };
    const { read, wrote } = this.#files;
    const tapped = ["bash", "-c", TAP, read, wrote, ...command];
    this.#agent = spawn(process.execPath, [rollcall, "acp", "--", ...tapped], {
      cwd: stage.project,
      env: stage.env,
      stdio: ["pipe", "pipe", "ignore"],
    });
    const { stdout } = this.#agent;
    // One that is killed may leave half a line, which says nothing.
    if (stdout) createInterface(stdout).on("line", (line) => this.#heard.push(parseJson(line)));
    stdout?.on("data", (bytes: Buffer) => this.#wire.read.update(bytes));
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
    const ended = once(this.#agent, "close");
    this.#agent.stdin?.end();
    await ended;
  }

  /** What differs between the two ends of the proxy, of an agent that has ended. */
  difference(): string | undefined {
    const { wrote, read } = this.#wire;
    const isSame = (file: string, hash: Hash) =>
      createHash("sha256").update(readFileSync(file)).digest("hex") === hash.digest("hex");
    if (!isSame(this.#files.read, wrote)) return "the agent read other bytes than the editor wrote";
    if (!isSame(this.#files.wrote, read)) return "the editor read other bytes than the agent wrote";
    return undefined;
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
    const line = `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
    this.#wire.wrote.update(line);
    this.#agent.stdin?.write(line);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#agent.kill("SIGKILL");
    return Promise.resolve();
  }
}
