/**
 * A job as its client sees it: what it says while it runs, and how it ended.
 *
 *   following ──its end comes──▶ ended
 *       └──the client closes, or the job cannot be found again──▶ failed
 *
 * `ended` tells how, whichever way; `done` is for who only wants the result, and throws when the
 * job failed. The caller may ignore either: an end that is not awaited is no fault.
 */
import { RollcallError } from "../../../core/errors.ts";
import type { JsonRecord } from "../../../core/json-object.ts";
import { errorCodeOf } from "../codec/errors.ts";
import type { CredentialShape, EventMessage, JobEndMessage } from "../codec/messages.ts";
import { EventQueue } from "./event-queue.ts";
import { ResultAssembly } from "./result.ts";
import type { Amount, JobEnd, LeaseShape, ReceivedEvent } from "./types.ts";

/** The facts of a job in the answer to its submit or subscribe. */
export interface JobFacts {
  readonly jobId: string;
  readonly agent: string;
  readonly lease: LeaseShape;
  readonly budget: ReadonlyMap<string, Amount>;
  readonly traceId: string | undefined;
  readonly acceptedAt: string | undefined;
  readonly credentials: readonly CredentialShape[];
  /** As it was then. */
  readonly status: string;
}

/** The client, as far as a job needs it. */
export interface JobControl {
  cancel(jobId: string, reason: string): Promise<void>;
  /** The caller no longer follows it. */
  leave(job: JobHandle): void;
  /** Its reader fell behind, or caught up. */
  behind(job: JobHandle, isBehind: boolean): void;
}

export class JobHandle implements AsyncDisposable {
  /** How it ended, whichever way; rejects only when that can no longer be known. */
  readonly ended: Promise<JobEnd>;
  /** Its result; rejects when it failed. One that was cancelled or timed out says so. */
  readonly done: Promise<JobEnd>;
  readonly #control: JobControl;
  readonly #queue = new EventQueue((isBehind) => this.#control.behind(this, isBehind));
  readonly #result = new ResultAssembly();
  readonly id: string;
  #facts: JobFacts;
  #resolve: (end: JobEnd) => void = () => undefined;
  #reject: (error: RollcallError) => void = () => undefined;
  #isOver = false;
  #received = 0;
  /** Events of a replayed history that were received before. */
  #known = 0;

  constructor(facts: JobFacts, control: JobControl) {
    this.id = facts.jobId;
    this.#facts = facts;
    this.#control = control;
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.done = this.ended.then(successOf);
    this.ended.catch(() => undefined);
    this.done.catch(() => undefined);
  }

  /** Resolved by the runtime: `name@version`, or a bare name. */
  get agent(): string {
    return this.#facts.agent;
  }

  get lease(): LeaseShape {
    return this.#facts.lease;
  }

  /** Its budget by currency, as it was when the job was accepted. */
  get budget(): ReadonlyMap<string, Amount> {
    return this.#facts.budget;
  }

  get traceId(): string | undefined {
    return this.#facts.traceId;
  }

  get acceptedAt(): string | undefined {
    return this.#facts.acceptedAt;
  }

  get credentials(): readonly CredentialShape[] {
    return this.#facts.credentials;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Its events, in order, until it ends. One reader at a time; a slow one is told. */
  events(options: { readonly signal?: AbortSignal } = {}): AsyncGenerator<ReceivedEvent, void> {
    return this.#queue.read(options.signal);
  }

  /** Asks for its end; that comes as any other. Resolves when the runtime has heard it. */
  async cancel(reason = "client.cancel"): Promise<void> {
    if (!this.#isOver) await this.#control.cancel(this.id, reason);
  }

  /** Follows it no longer; the job goes on. Idempotent. */
  async close(): Promise<void> {
    if (this.#isOver) return;
    this.#control.leave(this);
    this.fail(new RollcallError("CANCELLED", `job ${this.id} is no longer followed`));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @internal What is not read yet holds acknowledgements back from here on. */
  get oldestUnread(): number | undefined {
    return this.#queue.isRead ? this.#queue.oldestSeq : undefined;
  }

  /** @internal */
  know(facts: JobFacts): void {
    this.#facts = facts;
  }

  /** @internal Its whole history comes once more; what is known of it is skipped. */
  expectHistory(): void {
    this.#known = this.#received;
  }

  /** @internal */
  take({ event, body, ts = "", eventSeq: seq = 0 }: EventMessage, bytes: number): void {
    const isOfHistory = !isNotice(event);
    if (this.#known > 0) {
      if (isOfHistory) this.#known -= 1;
      return;
    }
    if (isOfHistory) this.#received += 1;
    // A kind that nobody knows, or a body that says nothing.
    if (event === undefined || this.#isOver) return;
    if (event.kind === "result_chunk") this.#result.take(event.body);
    this.#queue.push({ ...event, seq, ts, raw: body }, bytes);
  }

  /** @internal */
  end(terminal: JobEndMessage): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#queue.end();
    const { status, resultId, summary, error, completedAt, payload } = terminal;
    try {
      const whole = resultId === undefined ? terminal.result : this.#result.whole(resultId);
      const result = terminal.isJson ? valueOf(whole) : whole;
      this.#resolve({ status, result, resultId, summary, error, completedAt, payload });
    } catch (spoiled) {
      this.#reject(spoiled as RollcallError);
    }
  }

  /** @internal */
  fail(error: RollcallError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#queue.end(error.code === "CANCELLED" ? undefined : error);
    this.#reject(error);
  }
}

/** To this session alone, because it lags: it stands in no history of the job. */
function isNotice(event: EventMessage["event"]): boolean {
  return event?.kind === "status" && event.body.phase === "back_pressure";
}

/** A text that is declared as JSON and is not stays a text. */
function valueOf(whole: unknown): unknown {
  const text = whole instanceof Uint8Array ? Buffer.from(whole).toString() : whole;
  try {
    return typeof text === "string" ? (JSON.parse(text) as unknown) : whole;
  } catch {
    return whole;
  }
}

function successOf(end: JobEnd): JobEnd {
  if (end.status !== "error") return end;
  const { code = "INTERNAL_ERROR", message = "", details } = end.error ?? {};
  throw toldError({ code, message, details });
}

/** An error of the runtime as one of ours; its own words are the cause. */
export function toldError(told: {
  readonly code: string;
  readonly message: string;
  readonly details?: JsonRecord | undefined;
}): RollcallError {
  const message = told.message || told.code.toLowerCase().replaceAll("_", " ");
  return new RollcallError(errorCodeOf(told.code), message, { cause: told });
}
