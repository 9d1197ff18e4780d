/**
 * Requests to one outpost, down the stream that it opened itself, and its answers:
 *
 *   ask ──▶ waits ──▶ sent ──▶ answered
 *             │         └── no answer in time, or the stream ended ──▶ refused
 *             └── there is no stream ──▶ refused
 *
 * The outpost decides by its own rules and policy; here nothing is decided and nothing is kept. So
 * what is asked twice, or by two callers at once, is for one engine to sort out: that of the host.
 */
import type { Clock } from "../core/clock.ts";
import { RollcallError, type ErrorCode } from "../core/errors.ts";
import { LINK } from "./limits.ts";

/** The kinds of request. Answers to questions and prompts get their line here. */
export type OutpostTask =
  | { readonly kind: "job.cancel"; readonly jobId: string; readonly reason: string }
  | {
      readonly kind: "job.submit";
      readonly agent: string;
      /** JSON, else a text. */
      readonly input: string;
      /** Submitted again under it, it is the same job. */
      readonly key?: string | undefined;
    };

export type OutpostRequest = OutpostTask & {
  readonly id: string;
  /** The principal that asks, as this daemon knows it. */
  readonly by: string;
};

export type OutpostAnswer =
  /** With the id, on its machine, of a job that was submitted. */
  | { readonly ok: true; readonly jobId?: string | undefined }
  | { readonly ok: false; readonly code: ErrorCode; readonly message: string };

interface Waiting {
  readonly request: OutpostRequest;
  settle(outcome: RollcallError | { readonly jobId?: string | undefined }): void;
}

/** Each request as it is asked, until it is closed or a newer stream takes its place. */
export interface RequestStream {
  readonly requests: AsyncGenerator<OutpostRequest>;
  close(): void;
}

interface OpenStream {
  wake: () => void;
  isOver: boolean;
}

export class OutpostRequests {
  readonly #host: string;
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Waiting>();
  #unsent: OutpostRequest[] = [];
  #stream: OpenStream | undefined;
  #count = 0;

  constructor(host: string, clock: Clock) {
    this.#host = host;
    this.#clock = clock;
  }

  get hasStream(): boolean {
    return this.#stream !== undefined;
  }

  /**
   * Resolves when the outpost has done it, to the id of a job that was submitted; rejects with its
   * refusal, or if it does not answer.
   */
  ask(task: OutpostTask, by: string): Promise<string | undefined> {
    if (!this.#stream) return Promise.reject(this.#unreachable("has no connection"));
    if (this.#waiting.size >= LINK.requests) {
      const message = `${this.#host} has ${LINK.requests} requests to answer: try again later`;
      return Promise.reject(new RollcallError("LIMIT_EXCEEDED", message));
    }
    this.#count += 1;
    const request: OutpostRequest = { ...task, by, id: String(this.#count) };
    return new Promise((resolve, reject) => {
      const stop = this.#clock.after(LINK.answerMs, () => {
        const late = `did not answer within ${LINK.answerMs / 1000} s; it may have done it`;
        this.#waiting.get(request.id)?.settle(this.#unreachable(late));
      });
      const settle: Waiting["settle"] = (outcome) => {
        stop();
        this.#waiting.delete(request.id);
        this.#unsent = this.#unsent.filter((each) => each !== request);
        if (outcome instanceof RollcallError) reject(outcome);
        else resolve(outcome.jobId);
      };
      this.#waiting.set(request.id, { request, settle });
      this.#unsent.push(request);
      this.#stream?.wake();
    });
  }

  /** False for one that nobody waits for any more. */
  answer(id: string, answer: OutpostAnswer): boolean {
    const waiting = this.#waiting.get(id);
    if (!waiting) return false;
    const refused = (code: ErrorCode, message: string) =>
      new RollcallError(code, `${this.#host}: ${message}`);
    waiting.settle(answer.ok ? answer : refused(answer.code, answer.message));
    return true;
  }

  /** Begins a stream; a newer one ends it. */
  open(): RequestStream {
    this.end();
    const stream: OpenStream = { wake: () => undefined, isOver: false };
    this.#stream = stream;
    return {
      requests: this.#follow(stream),
      close: () => {
        if (this.#stream === stream) this.end();
      },
    };
  }

  async *#follow(stream: OpenStream): AsyncGenerator<OutpostRequest> {
    while (!stream.isOver) {
      const next = this.#unsent.shift();
      if (next) yield next;
      else await new Promise<void>((resolve) => (stream.wake = resolve));
    }
  }

  /** The connection is gone: nothing that was asked will be answered. */
  end(): void {
    const stream = this.#stream;
    this.#stream = undefined;
    if (stream) stream.isOver = true;
    const gone = this.#unreachable("went away before it answered; it may have done it");
    for (const waiting of this.#waiting.values()) waiting.settle(gone);
    stream?.wake();
  }

  #unreachable(what: string): RollcallError {
    return new RollcallError("UNAVAILABLE", `the outpost of ${this.#host} ${what}`);
  }
}
