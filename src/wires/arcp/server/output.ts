/**
 * From a session to its socket. What counts is on the disk, so nothing is held here for a peer that
 * does not keep up, and a client that comes back is a slow one:
 *
 *              durable, and all before was sent, and there is room
 *   live ◀──────────────────────────────────────────────────────────┐
 *    │ no room, or just resumed                                     │ caught up
 *    └──▶ behind: reads the streams as the peer takes them ─────────┘
 *
 * In both the peer gets the same bytes.
 */
import { codeOf, RollcallError } from "../../../core/errors.ts";
import { OUTPUT } from "./session-limits.ts";
import type { Transport } from "./transport.ts";

/** A frame from the disk. */
export interface NumberedFrame {
  readonly seq: number;
  readonly text: string;
}

/** The frames after a number, from the disk, through another number. */
export type ReadFrames = (after: number, through: number) => AsyncIterable<NumberedFrame>;

export interface SessionOutputOptions {
  readonly read: ReadFrames;
  /** A frame is no longer on the disk: nobody can be sent what follows the one before it. */
  readonly onLost: (seq: number) => void;
  readonly durable: number;
}

export class SessionOutput {
  readonly #read: ReadFrames;
  readonly #onLost: (seq: number) => void;
  /** The number of the last frame that is durable. */
  durable: number;
  /** Of the last one that was handed to the transport. */
  sent = 0;
  #transport: Transport | undefined;
  #isReading = false;

  constructor({ read, onLost, durable }: SessionOutputOptions) {
    this.#read = read;
    this.#onLost = onLost;
    this.durable = durable;
  }

  /** To a client that has everything through `sent`. */
  attach(transport: Transport, sent: number): void {
    this.#transport = transport;
    this.sent = sent;
    this.pump();
  }

  detach(): void {
    this.#transport = undefined;
  }

  /** The next frames are durable; each is encoded when it is sent. */
  release<T>(frames: readonly T[], text: (frame: T, index: number) => string): void {
    const before = this.durable;
    this.durable += frames.length;
    const transport = this.#transport;
    if (!transport) return;
    if (this.sent !== before || this.#isReading) return this.pump();
    let index = 0;
    for (const frame of frames) {
      if (transport.waitingBytes >= OUTPUT.waitingBytes) return;
      if (!this.#send(transport, text(frame, index))) return;
      index += 1;
    }
  }

  /** The peer took what waited, or there is something to catch up with. */
  pump(): void {
    if (this.#isReading || !this.#transport || this.sent >= this.durable) return;
    this.#isReading = true;
    void this.#catchUp(this.#transport).finally(() => {
      this.#isReading = false;
      // It may have been attached anew meanwhile; or drained, before this was over.
      if (this.#isAble()) this.pump();
    });
  }

  #isAble(): boolean {
    const transport = this.#transport;
    return transport !== undefined && transport.waitingBytes < OUTPUT.waitingBytes;
  }

  async #catchUp(transport: Transport): Promise<void> {
    try {
      while (this.sent < this.durable) {
        for await (const frame of this.#read(this.sent, this.durable)) {
          if (this.#transport !== transport) return;
          if (transport.waitingBytes >= OUTPUT.waitingBytes) return;
          if (frame.seq !== this.sent + 1) throw lost(this.sent + 1);
          if (!this.#send(transport, frame.text)) return;
        }
      }
    } catch (error) {
      if (this.#transport !== transport) return;
      const isGone = codeOf(error) === "OUT_OF_RANGE";
      const reason = isGone ? "events were dropped before they were read" : "the disk failed";
      // A socket ends later than its close; until then this would read and fail again and again.
      this.detach();
      if (isGone) this.#onLost(this.sent + 1);
      transport.close({ code: 1013, reason });
    }
  }

  #send(transport: Transport, frame: string): boolean {
    try {
      transport.send(frame);
      this.sent += 1;
      return true;
    } catch {
      // Larger than this transport carries; another one may, so the session can be resumed.
      transport.close({ code: 1009, reason: "a frame is too large for this transport" });
      this.detach();
      return false;
    }
  }
}

function lost(seq: number): RollcallError {
  return new RollcallError("OUT_OF_RANGE", `frame ${seq} is no longer there`);
}
