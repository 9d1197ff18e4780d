/**
 * Requests that have not come whole yet. A caller that sends half a message and no more, or many
 * large ones at once, holds memory for nothing: there is an end to how long one is waited for, and
 * to how much all of them hold together.
 */
import { RollcallError } from "../../core/errors.ts";
import type { ServerLimits } from "./limits.ts";
import type { ServerCall } from "./server-call.ts";
import { grpcStatusOf } from "./status.ts";

type Limits = Pick<ServerLimits, "gatheredBytes" | "requestMs">;

interface Entry {
  readonly sinceMs: number;
  bytes: number;
}

export class Gathering {
  readonly #limits: Limits;
  /** The one that has waited longest first. */
  readonly #calls = new Map<ServerCall, Entry>();
  #bytes = 0;
  #looking: NodeJS.Timeout | undefined;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#calls.size;
  }

  begin(call: ServerCall, nowMs: number): void {
    this.#calls.set(call, { sinceMs: nowMs, bytes: 0 });
    this.#looking ??= setTimeout(() => this.#look(), this.#limits.requestMs).unref();
  }

  /** Throws when that is more than there is room for. */
  hold(call: ServerCall, bytes: number): void {
    const entry = this.#calls.get(call);
    if (!entry) return;
    const { gatheredBytes } = this.#limits;
    if (this.#bytes + bytes > gatheredBytes) {
      const message = `requests that are still coming hold more than ${gatheredBytes} bytes`;
      throw new RollcallError("LIMIT_EXCEEDED", message);
    }
    entry.bytes += bytes;
    this.#bytes += bytes;
  }

  /** It came whole, was refused, or is gone. */
  end(call: ServerCall): void {
    this.#bytes -= this.#calls.get(call)?.bytes ?? 0;
    this.#calls.delete(call);
  }

  close(): void {
    clearTimeout(this.#looking);
  }

  #look(): void {
    const { requestMs } = this.#limits;
    const beforeMs = performance.now() - requestMs;
    const message = `the request did not come within ${requestMs} ms`;
    for (const [call, { sinceMs }] of this.#calls) {
      if (sinceMs > beforeMs) break;
      this.end(call);
      call.fail(grpcStatusOf(new RollcallError("DEADLINE_EXCEEDED", message)));
    }
    this.#looking = undefined;
    if (this.#calls.size > 0) {
      this.#looking = setTimeout(() => this.#look(), requestMs).unref();
    }
  }
}
