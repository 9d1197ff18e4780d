/**
 * A session inside a host that lets us run in its process: its status is an emitter's, which
 * heartbeats by itself and takes the file away at the end. What the session is asked, and for what
 * it waits, is kept here; nothing of it throws into the host.
 */
import { findProcess, type ProcessProof } from "../../machine/processes.ts";
import { StatusEmitter, type StatusEmitterOptions } from "../../wires/files/emitter.ts";
import { complain } from "./complaints.ts";
import { defined } from "./fact.ts";
import { TEXT } from "./limits.ts";
import { agentIdOf } from "../../machine/places.ts";
import type { Question } from "./question.ts";
import { rollcallAgentId, tmuxPane } from "../../machine/surroundings.ts";
import { oneLine } from "../../core/text.ts";

export interface HostSessionOptions extends Pick<StatusEmitterOptions, "folder" | "now"> {
  readonly host: "opencode" | "pi";
  readonly sessionId: string;
  readonly workspace: string | undefined;
}

export class HostSession {
  readonly #host: string;
  readonly #sessionId: string;
  readonly #emitter: StatusEmitter;
  /** What the emitter shows as x_meta: it looks at it anew for every write. */
  readonly #meta: Record<string, unknown>;
  /** Open ones by their ids, the latest last. */
  readonly #questions = new Map<string, Question>();
  readonly #process: ProcessProof | undefined;
  #prompt: string | undefined;
  #hasGoal = false;

  constructor({ host, sessionId, workspace, ...rest }: HostSessionOptions) {
    const tmux = tmuxPane(process.env);
    this.#host = host;
    this.#sessionId = sessionId;
    this.#meta = defined({
      [host]: { session_id: sessionId },
      tmux_socket: tmux?.socket,
      tmux_pane: tmux?.pane,
      rollcall_agent_id: rollcallAgentId(process.env),
    });
    const found = findProcess(process.pid);
    this.#process = found && { pid: found.pid, start: found.start };
    this.#showQuestion(undefined);
    this.#emitter = new StatusEmitter({
      ...rest,
      agentName: host,
      agentId: agentIdOf(host, sessionId),
      meta: this.#meta,
      onError: complain,
      ...(workspace?.startsWith("/") && { workspace }),
    });
  }

  /** A person said what to do. */
  prompted(text: string, model?: string): void {
    if (model !== undefined) this.#meta[this.#host] = { session_id: this.#sessionId, model };
    const prompt = oneLine(text, TEXT.summaryLength);
    this.#prompt = prompt || undefined;
    if (prompt !== "" && !this.#hasGoal) {
      this.#hasGoal = true;
      this.#emitter.goal(prompt);
    }
    this.works();
  }

  /** It does something by itself: so nothing is asked any more. */
  works(): void {
    this.#questions.clear();
    this.#show();
  }

  asks(id: string, question: Question): void {
    this.#questions.delete(id);
    this.#questions.set(id, question);
    this.#show();
  }

  /** One was answered; another may still be open. */
  answered(id: string): void {
    this.#questions.delete(id);
    this.#show();
  }

  /** It came to an end: with nothing left to do, with something, or not well. */
  rests(state?: "submitted" | "failed", reason?: string): void {
    this.#questions.clear();
    this.#showQuestion(undefined);
    const summary = reason === undefined ? this.#prompt : oneLine(reason, TEXT.summaryLength);
    this.#emitter.task(state && { state, ...defined({ summary }) });
  }

  activity(): void {
    this.#emitter.activity();
  }

  async flush(): Promise<void> {
    await this.#emitter.flush();
  }

  async close(): Promise<void> {
    await this.#emitter.close();
  }

  #show(): void {
    const question = [...this.#questions.values()].at(-1);
    this.#showQuestion(question);
    const summary = question ? oneLine(question.text, TEXT.summaryLength) : this.#prompt;
    const state = question ? "input-required" : "working";
    this.#emitter.task({ state, ...defined({ summary }) });
  }

  #showQuestion(question: Question | undefined): void {
    this.#meta["rollcall"] = defined({ process: this.#process, question });
  }
}
