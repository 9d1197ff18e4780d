/**
 * Requests that wait for their answer, and which answer is whose. Runtimes differ in what they
 * repeat of a request, so an answer is matched by the best of what it has:
 *
 *   1. the id of the request (our runtime, the Python one where it succeeds)
 *   2. the trace id, which is unique for every submit (the TypeScript one)
 *   3. the order: every runtime answers in the order of the requests, so the oldest of its type
 *
 * An error that names nothing refuses the oldest request of all, for the same reason.
 */
import { RollcallError } from "../../../core/errors.ts";
import type { Clock } from "../../../core/clock.ts";
import { ARCP_CLIENT } from "./limits.ts";
import type { CallOptions } from "./types.ts";

export type RequestType = "submit" | "list" | "subscribe" | "cancel" | "ping";

interface SentRequest {
  readonly id: string;
  readonly type: RequestType;
  readonly traceId: string | undefined;
  readonly jobId: string | undefined;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: RollcallError) => void;
}

export interface PendingRequest extends CallOptions {
  readonly id: string;
  readonly type: RequestType;
  readonly traceId?: string;
  readonly jobId?: string;
}

/** The fields of an answer that identify its request. */
export interface Clues {
  readonly type: RequestType;
  readonly requestId?: string | undefined;
  readonly traceId?: string | undefined;
  readonly jobId?: string | undefined;
}

export class PendingRequests {
  readonly #clock: Clock;
  readonly #onChange: () => void;
  /** In the order in which they were sent. */
  readonly #waiting = new Map<string, SentRequest>();

  /** `onChange` is called when the first begins to wait, and when none does any more. */
  constructor(clock: Clock, onChange: () => void) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Resolves with the answer; the caller says what that is, as it also says to `settle`. */
  add<Answer>(request: PendingRequest): Promise<Answer> {
    if (this.#waiting.size >= ARCP_CLIENT.pendingRequests) {
      const message = `${ARCP_CLIENT.pendingRequests} requests wait for an answer already`;
      return Promise.reject(new RollcallError("LIMIT_EXCEEDED", message));
    }
    const { id, type, traceId, jobId, signal, timeoutMs = ARCP_CLIENT.answerMs } = request;
    return new Promise<Answer>((resolve, reject) => {
      const giveUp = () => this.#take(id)?.reject(cancelled(signal));
      const cancelTimer = this.#clock.after(timeoutMs, () => {
        const message = `the runtime did not answer a ${type} within ${timeoutMs} ms`;
        this.#take(id)?.reject(new RollcallError("DEADLINE_EXCEEDED", message));
      });
      const settled = () => {
        cancelTimer();
        signal?.removeEventListener("abort", giveUp);
      };
      this.#waiting.set(id, {
        id,
        type,
        traceId,
        jobId,
        resolve: (answer) => {
          settled();
          resolve(answer as Answer);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      });
      if (this.#waiting.size === 1) this.#onChange();
      signal?.addEventListener("abort", giveUp, { once: true });
      if (signal?.aborted) giveUp();
    });
  }

  /** Gives a request its answer; false when nobody waits for it. */
  settle(clues: Clues, answer: unknown): boolean {
    const found = this.#find(clues);
    if (!found) return false;
    this.#take(found.id)?.resolve(answer);
    return true;
  }

  /** Refuses the one that an error is about. */
  refuse(clues: Partial<Clues>, error: RollcallError): boolean {
    const found = clues.requestId === undefined ? this.#oldest(clues) : this.#find(clues);
    if (!found) return false;
    this.#take(found.id)?.reject(error);
    return true;
  }

  failAll(error: RollcallError): void {
    for (const id of this.#waiting.keys()) this.#take(id)?.reject(error);
  }

  #take(id: string): SentRequest | undefined {
    const waiting = this.#waiting.get(id);
    if (this.#waiting.delete(id) && this.#waiting.size === 0) this.#onChange();
    return waiting;
  }

  #find(clues: Partial<Clues>): SentRequest | undefined {
    const { requestId } = clues;
    if (requestId !== undefined) return this.#waiting.get(requestId);
    return this.#oldest(clues);
  }

  #oldest({ type, traceId, jobId }: Partial<Clues>): SentRequest | undefined {
    let first: SentRequest | undefined;
    for (const each of this.#waiting.values()) {
      if (type !== undefined && each.type !== type) continue;
      if (jobId !== undefined && each.jobId !== jobId) continue;
      if (traceId !== undefined && each.traceId === traceId) return each;
      first ??= each;
    }
    return first;
  }
}

function cancelled(signal: AbortSignal | undefined): RollcallError {
  const reason: unknown = signal?.reason;
  if (reason instanceof RollcallError) return reason;
  return new RollcallError("CANCELLED", "the call was cancelled", { cause: reason });
}
