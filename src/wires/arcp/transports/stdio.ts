/**
 * Frames over a pair of byte streams: the standard streams of this process, or those of a child.
 * All that is sent in one turn of the event loop is one write. What a program logs goes to its
 * standard error: anything else on the way out would be taken for a frame.
 */
import type { Readable, Writable } from "node:stream";
import { RollcallError } from "../../../core/errors.ts";
import type { Transport, TransportEnding, TransportListener } from "../server/transport.ts";
import { checkOutbound, CLOSE_CODE, NORMAL, TRANSPORT } from "./limits.ts";
import { LineReader } from "./lines.ts";

export interface StdioOptions {
  /** Where frames come from. */
  readonly input: Readable;
  /** Where frames go. */
  readonly output: Writable;
  /** For a peer known to take longer lines than the 64 KiB that every peer takes. */
  readonly maxFrameBytes?: number;
}

/** Over the streams of a child, or those given; `processTransport` is for this process's own. */
export function stdioTransport(options: StdioOptions): Transport {
  return new StdioTransport(options);
}

/** This process as a child: frames in by its standard input, out by its standard output. */
export function processTransport(): Transport {
  return stdioTransport({ input: process.stdin, output: process.stdout });
}

class StdioTransport implements Transport {
  readonly maxFrameBytes: number;
  readonly #input: Readable;
  readonly #output: Writable;
  #listener: TransportListener | undefined;
  #lines: LineReader | undefined;
  /** Sent in this turn, to be written at its end. */
  #gathered = "";
  #gatheredBytes = 0;
  #isOver = false;

  constructor({ input, output, maxFrameBytes = TRANSPORT.lineBytes }: StdioOptions) {
    this.maxFrameBytes = Math.min(maxFrameBytes, TRANSPORT.inboundBytes);
    this.#input = input;
    this.#output = output;
    // A peer that is gone is told by the end of what it sends, or here.
    output.on("error", this.#onLost);
    output.on("close", this.#onEnd);
    input.on("error", this.#onLost);
  }

  open(listener: TransportListener): void {
    if (this.#listener) throw new RollcallError("WRONG_STATE", "this transport is open already");
    this.#listener = listener;
    this.#lines = new LineReader(TRANSPORT.inboundBytes, {
      onLine: (line) => {
        if (!this.#isOver) listener.onFrame(line);
      },
      onFault: (fault) => {
        const code = fault === "too large" ? CLOSE_CODE.tooLarge : CLOSE_CODE.notText;
        this.#end({ code, reason: `a line that is ${fault}` });
      },
    });
    this.#input.on("data", this.#onData).on("end", this.#onEnd).on("close", this.#onEnd);
    if (this.#input.readableEnded || this.#input.destroyed) setImmediate(this.#onEnd);
  }

  send(frame: string): void {
    if (this.#isOver) return;
    checkOutbound(frame, this.maxFrameBytes);
    if (this.#gathered === "") setImmediate(this.#flush);
    this.#gathered += `${frame}\n`;
    this.#gatheredBytes += frame.length + 1;
  }

  get waitingBytes(): number {
    return this.#gatheredBytes + this.#output.writableLength;
  }

  pause(): void {
    this.#input.pause();
  }

  resume(): void {
    if (!this.#isOver) this.#input.resume();
  }

  close(ending: TransportEnding = NORMAL): void {
    this.#end(ending);
  }

  readonly #flush = () => {
    if (this.#gathered === "") return;
    const text = this.#gathered;
    this.#gathered = "";
    this.#gatheredBytes = 0;
    this.#output.write(text, this.#onWritten);
  };

  readonly #onWritten = () => {
    if (!this.#isOver && this.waitingBytes === 0) this.#listener?.onDrained();
  };

  readonly #onData = (chunk: Uint8Array | string) => {
    this.#lines?.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
  };

  readonly #onEnd = () => {
    const isTorn = this.#lines?.isWithinLine === true;
    const torn = { code: CLOSE_CODE.lost, reason: "the peer left in the middle of a line" };
    this.#end(isTorn ? torn : { code: CLOSE_CODE.normal, reason: "the peer left" });
  };

  readonly #onLost = (error: Error) => this.#end({ code: CLOSE_CODE.lost, reason: error.message });

  #end(ending: TransportEnding): void {
    if (this.#isOver) return;
    this.#flush();
    this.#isOver = true;
    this.#input.off("data", this.#onData).off("end", this.#onEnd).off("close", this.#onEnd);
    this.#input.pause();
    this.#output.end();
    setImmediate(() => this.#listener?.onClosed(ending));
  }
}
