/**
 * Carries bytes from one end of a conversation to the other, as they come. Nothing is decoded, held
 * back or put together anew, so there is nothing that could change a byte.
 *
 *   open ──▶ congested: the reader is slow, so nothing more is read ──drained──▶ open
 *     │
 *     └── the source ends ──▶ the sink is ended, once it has everything ──▶ done
 *         the sink breaks ──▶ the source is closed: its writer learns it as without us ──▶ done
 *
 * There is one pump for each direction, and they share nothing: a client that does not read stops
 * the agent's output, never its input. The observer gets each chunk after it went on its way.
 */
import type { Readable, Writable } from "node:stream";

export interface PumpOptions {
  readonly from: Readable;
  readonly to: Writable;
  /** Told of every chunk that was forwarded; it must not change it. */
  readonly tap?: (chunk: Buffer) => void;
}

const NEWLINE = 10;

export class Pump {
  /** Everything was handed to the system, or nobody takes it any more. */
  readonly done: Promise<void>;
  readonly #from: Readable;
  readonly #to: Writable;
  #tap: ((chunk: Buffer) => void) | undefined;
  #isBetweenLines = true;
  #isCongested = false;
  #isEnded = false;
  #bytes = 0;
  #finish: () => void = () => undefined;

  constructor({ from, to, tap }: PumpOptions) {
    this.#from = from;
    this.#to = to;
    this.#tap = tap;
    this.done = new Promise((resolve) => (this.#finish = resolve));
    from.on("data", (chunk: Buffer) => this.#forward(chunk));
    from.on("end", () => this.end());
    from.on("error", () => this.end());
    from.on("close", () => this.end());
    to.on("drain", () => this.#relieve());
    to.on("error", () => this.#break());
    to.on("close", () => this.#break());
  }

  /** How much went through. */
  get bytes(): number {
    return this.#bytes;
  }

  get isCongested(): boolean {
    return this.#isCongested;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /**
   * Puts a whole line between two others. Whether it did: not inside a line, not where the reader
   * is behind, not after the end.
   */
  interject(line: string): boolean {
    if (this.#isEnded || this.#isCongested || !this.#isBetweenLines) return false;
    this.#isCongested = !this.#to.write(`${line}\n`);
    if (this.#isCongested) this.#from.pause();
    return true;
  }

  /** Chunks that were read still arrive; nothing more is read. Idempotent. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#from.destroy();
    this.#to.end(() => this.#finish());
  }

  #forward(chunk: Buffer): void {
    if (this.#isEnded) return;
    this.#bytes += chunk.length;
    this.#isBetweenLines = chunk.at(-1) === NEWLINE;
    if (!this.#to.write(chunk)) {
      this.#isCongested = true;
      this.#from.pause();
    }
    this.#tell(chunk);
  }

  /** A listener may fail; the stream does not. */
  #tell(chunk: Buffer): void {
    try {
      this.#tap?.(chunk);
    } catch {
      this.#tap = undefined;
    }
  }

  #relieve(): void {
    this.#isCongested = false;
    if (!this.#isEnded) this.#from.resume();
  }

  #break(): void {
    this.#isEnded = true;
    this.#from.destroy();
    this.#finish();
  }
}
