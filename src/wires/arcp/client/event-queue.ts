/**
 * The events of one job between the wire and a reader who may be slow. One that falls behind stops
 * the wire until it has caught up. Where that does not help, because somebody waits for an answer
 * that comes the same way, there is a bound, and the reader is told, after what it still got.
 * Without a reader all is let go at the bound: `done` does not need events.
 */
import { RollcallError } from "../../../core/errors.ts";
import { ARCP_CLIENT } from "./limits.ts";
import type { ReceivedEvent } from "./types.ts";

interface QueuedEvent {
  readonly event: ReceivedEvent;
  readonly bytes: number;
}

export class EventQueue {
  #entries: QueuedEvent[] = [];
  #head = 0;
  #bytes = 0;
  #isOver = false;
  #failure: RollcallError | undefined;
  #wake: () => void = () => undefined;
  readonly #onBehind: (isBehind: boolean) => void;
  #isBehind = false;
  #isRead = false;

  constructor(onBehind: (isBehind: boolean) => void) {
    this.#onBehind = onBehind;
  }

  /** Whether somebody reads, so that what waits here holds acknowledgements back. */
  get isRead(): boolean {
    return this.#isRead;
  }

  /** The place of the oldest event that waits for a reader. */
  get oldestSeq(): number | undefined {
    return this.#entries[this.#head]?.event.seq;
  }

  push(event: ReceivedEvent, bytes: number): void {
    if (this.#isOver) return;
    const waiting = this.#waiting;
    if (waiting >= ARCP_CLIENT.queuedEvents || this.#bytes + bytes > ARCP_CLIENT.queuedBytes) {
      return this.#overflow(waiting);
    }
    this.#entries.push({ event, bytes });
    this.#bytes += bytes;
    this.#look();
    this.#wake();
  }

  get #waiting(): number {
    return this.#entries.length - this.#head;
  }

  #look(): void {
    const most = this.#isBehind ? ARCP_CLIENT.resumeEvents : ARCP_CLIENT.pauseEvents;
    const isBehind = this.#isRead && !this.#isOver && this.#waiting > most;
    if (isBehind === this.#isBehind) return;
    this.#isBehind = isBehind;
    this.#onBehind(isBehind);
  }

  /** Nothing comes after what is there; with a failure that is told last. */
  end(failure?: RollcallError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#failure = failure;
    this.#look();
    this.#wake();
  }

  async *read(signal: AbortSignal | undefined): AsyncGenerator<ReceivedEvent, void> {
    if (this.#isRead) throw new RollcallError("WRONG_STATE", "the events of a job have one reader");
    this.#isRead = true;
    const wake = () => this.#wake();
    signal?.addEventListener("abort", wake, { once: true });
    try {
      while (!signal?.aborted) {
        const event = this.#take();
        if (event) yield event;
        else if (this.#isOver) break;
        else await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      this.#isRead = false;
      this.#look();
      signal?.removeEventListener("abort", wake);
    }
    if (!signal?.aborted && this.#failure) throw this.#failure;
  }

  #take(): ReceivedEvent | undefined {
    const entry = this.#entries[this.#head];
    if (!entry) return undefined;
    this.#head += 1;
    this.#bytes -= entry.bytes;
    if (this.#head > 1024 || this.#head === this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
    this.#look();
    return entry.event;
  }

  #overflow(waiting: number): void {
    if (!this.#isRead) this.#entries = [];
    const message = `${waiting} events waited for their reader: it is too slow`;
    this.end(new RollcallError("SLOW_CONSUMER", message));
  }
}
