/**
 * A session inside a host that lets us run in its process: its status is an emitter's, which
 * heartbeats by itself and takes the file away at the end. Nothing of it throws into the host.
 *
 *   what it does      at rest ◀──▶ working          a turn ends, or fails; the next one begins
 *   what it asks      any number of questions       the latest is shown, until it is answered
 *
 * The two are apart: a question covers what the session does, and uncovers it when it is answered.
 */
import { findProcess } from "../../machine/processes.ts";
import { writeMeta, type OwnMeta } from "../../wires/files/meta.ts";
import { StatusEmitter, type StatusEmitterOptions } from "../../wires/files/emitter.ts";
import { complain } from "./complaints.ts";
import { defined } from "./fact.ts";
import { markHeard } from "./heard.ts";
import { TEXT } from "./limits.ts";
import { agentIdOf } from "../../machine/places.ts";
import { questionAtEnd, type HookQuestion } from "./question.ts";
import { rollcallAgentId, tmuxPane } from "../../machine/surroundings.ts";
import { oneLine } from "../../core/text.ts";

export interface HostSessionOptions extends Pick<StatusEmitterOptions, "folder" | "now"> {
  readonly host: "opencode" | "pi";
  readonly sessionId: string;
  readonly workspace: string | undefined;
}

/** The id of the question with which an answer ended: open until the next turn. */
const LAST_WORDS = "last words";

interface CurrentActivity {
  readonly state: "working" | "submitted" | "failed";
  readonly summary?: string;
}

export class HostSession {
  readonly #host: string;
  readonly #sessionId: string;
  readonly #emitter: StatusEmitter;
  readonly #own: OwnMeta;
  #model: string | undefined;
  /** Undefined at rest, with nothing left to do. */
  #doing: CurrentActivity | undefined;
  /** Open ones by their ids, the latest last. */
  readonly #questions = new Map<string, HookQuestion>();
  #prompt: string | undefined;
  #hasGoal = false;

  constructor({ host, sessionId, workspace, ...rest }: HostSessionOptions) {
    this.#host = host;
    this.#sessionId = sessionId;
    const found = findProcess(process.pid);
    this.#own = {
      agentId: rollcallAgentId(process.env),
      process: found && { pid: found.pid, start: found.start },
      tmux: tmuxPane(process.env),
    };
    this.#emitter = new StatusEmitter({
      ...rest,
      agentName: host,
      agentId: agentIdOf(host, sessionId),
      meta: this.#meta(),
      // A session ends with its host, and so with the machine.
      isDurable: false,
      onError: complain,
      ...(workspace?.startsWith("/") && { workspace }),
    });
  }

  /** A person said what to do. */
  prompted(text: string, model?: string): void {
    this.#model = model ?? this.#model;
    const prompt = oneLine(text, TEXT.summaryLength);
    this.#prompt = prompt || undefined;
    if (prompt !== "" && !this.#hasGoal) {
      this.#hasGoal = true;
      this.#emitter.goal(prompt);
    }
    this.#doing = undefined;
    this.works();
  }

  get isWorking(): boolean {
    return this.#doing?.state === "working";
  }

  works(): void {
    this.#questions.delete(LAST_WORDS);
    if (this.isWorking) return this.activity();
    this.#doing = { state: "working", ...defined({ summary: this.#prompt }) };
    this.#show();
  }

  /** It came to its end with an answer, which may ask something. */
  answers(words: string): void {
    const question = questionAtEnd(words);
    if (question) this.#questions.set(LAST_WORDS, question);
    this.rests();
  }

  /** It came to an end: with nothing left to do, with something, or not well. */
  rests(state?: "submitted" | "failed", reason?: string): void {
    const summary = reason === undefined ? this.#prompt : oneLine(reason, TEXT.summaryLength);
    this.#doing = state && { state, ...defined({ summary }) };
    this.#show();
  }

  asks(id: string, question: HookQuestion): void {
    this.#questions.delete(id);
    this.#questions.set(id, question);
    this.#show();
  }

  /** One was answered, or withdrawn; another may still be open. */
  answered(id: string): void {
    if (this.#questions.delete(id)) this.#show();
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
    markHeard(this.#host, question ? "a question" : (this.#doing?.state ?? "at rest"));
    this.#emitter.describe({ meta: this.#meta(question) });
    this.#emitter.task(
      question
        ? { state: "input-required", summary: oneLine(question.text, TEXT.summaryLength) }
        : this.#doing,
    );
  }

  #meta(question?: HookQuestion): ReturnType<typeof writeMeta> {
    const coding = { session_id: this.#sessionId, ...defined({ model: this.#model }) };
    return writeMeta({ ...this.#own, question }, { [this.#host]: coding });
  }
}
