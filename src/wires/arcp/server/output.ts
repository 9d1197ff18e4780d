/**
 * From the stream of a session to its socket. What counts is in the journal, so nothing is held
 * here for a peer that does not keep up, and a client that comes back is a slow one:
 *
 *              released, and all before was sent, and there is room
 *   live ◀──────────────────────────────────────────────────────────┐
 *    │ no room, or just resumed                                     │ caught up
 *    └──▶ behind: reads the journal as the peer takes it ───────────┘
 *
 * In both the peer gets the same bytes: the frames as they were recorded.
 */
import { RollcallError } from "../../../core/errors.ts";
import type { Recorder } from "../../../jobs/recorder.ts";
import { OUTPUT } from "./session-limits.ts";
import type { Transport } from "./transport.ts";

export class Output {
  readonly #recorder: Recorder;
  readonly #stream: string;
  /** The position of the last entry that may be seen. */
  released: number;
  /** Of the last one that was handed to the transport. */
  sent = 0;
  #transport: Transport | undefined;
  #isReading = false;

  constructor(recorder: Recorder, stream: string, released: number) {
    this.#recorder = recorder;
    this.#stream = stream;
    this.released = released;
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

  release(entries: readonly string[]): void {
    const before = this.released;
    this.released += entries.length;
    const transport = this.#transport;
    if (!transport) return;
    if (this.sent !== before || this.#isReading) return this.pump();
    for (const entry of entries) {
      if (transport.waitingBytes >= OUTPUT.waitingBytes) return;
      if (!this.#send(transport, entry)) return;
    }
  }

  /** The peer took what waited, or there is something to catch up with. */
  pump(): void {
    if (this.#isReading || !this.#transport || this.sent >= this.released) return;
    this.#isReading = true;
    void this.#read(this.#transport).finally(() => {
      this.#isReading = false;
      // It may have been attached anew meanwhile; or drained, before this was over.
      if (this.#isAble()) this.pump();
    });
  }

  #isAble(): boolean {
    const transport = this.#transport;
    return transport !== undefined && transport.waitingBytes < OUTPUT.waitingBytes;
  }

  async #read(transport: Transport): Promise<void> {
    try {
      while (this.sent < this.released) {
        const before = this.sent;
        for await (const { position, entry } of this.#recorder.read(this.#stream, before)) {
          if (this.#transport !== transport || position > this.released) break;
          if (transport.waitingBytes >= OUTPUT.waitingBytes) return;
          if (position !== this.sent + 1 || !this.#send(transport, entry)) return;
        }
        if (this.#transport !== transport) return;
        // Released before it was durable: it comes.
        if (this.sent === before) await this.#recorder.settled();
        if (this.#recorder.hasFailed) return;
      }
    } catch (cause) {
      const isTrimmed = cause instanceof RollcallError && cause.code === "OUT_OF_RANGE";
      const reason = isTrimmed ? "events were dropped before they were read" : "journal failed";
      if (this.#transport === transport) transport.close({ code: 1013, reason });
    }
  }

  #send(transport: Transport, entry: string): boolean {
    try {
      transport.send(entry);
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
