/**
 * A client and a runtime in one process. Frames cross at the end of the turn of the event loop in
 * which they were sent, as they would on a wire: nobody is called from within their own `send`.
 * Frames sent before the other end opens wait; an end that lets too much wait is overloaded, and
 * the pair ends.
 */
import { RollcallError } from "../../../core/errors.ts";
import { ProcessHold } from "../../../machine/process-hold.ts";
import type { Transport, TransportEnding, TransportListener } from "../server/transport.ts";
import { checkOutbound, CLOSE_CODE, NORMAL, TRANSPORT } from "./limits.ts";

/** An open end keeps the process alive, as a socket does, so that its reader is answered. */
const hold = new ProcessHold();

/** The two ends of one connection; each gets what is sent into the other. */
export function pairMemoryTransports(): readonly [client: Transport, runtime: Transport] {
  const { client, runtime } = new MemoryLink();
  return [client, runtime];
}

/** The wire between them, which a test may freeze or cut. */
export class MemoryLink {
  readonly client: Transport;
  readonly runtime: Transport;
  readonly #ends: readonly [MemoryEnd, MemoryEnd];
  #isFrozen = false;

  constructor() {
    const ends = [new MemoryEnd(this), new MemoryEnd(this)] as const;
    ends[0].peer = ends[1];
    ends[1].peer = ends[0];
    this.#ends = ends;
    [this.client, this.runtime] = ends;
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  /** Nothing crosses any more, and neither end can tell. */
  freeze(): void {
    this.#isFrozen = true;
  }

  thaw(): void {
    this.#isFrozen = false;
    for (const end of this.#ends) end.schedule();
  }

  /** It ends without a word; what was under way is lost. */
  cut(): void {
    for (const end of this.#ends)
      end.lose({ code: CLOSE_CODE.lost, reason: "the connection was cut" });
  }
}

/** `#inbox` holds frames of the other end that are on their way here. */
class MemoryEnd implements Transport {
  readonly maxFrameBytes = TRANSPORT.outboundBytes;
  readonly #link: MemoryLink;
  #peer: MemoryEnd | undefined;
  #listener: TransportListener | undefined;
  #inbox: string[] = [];
  #inboxBytes = 0;
  /** Comes after all that is in the inbox. */
  #ending: TransportEnding | undefined;
  #isScheduled = false;
  #isPaused = false;
  #isOver = false;
  #letGo: (() => void) | undefined;

  constructor(link: MemoryLink) {
    this.#link = link;
  }

  set peer(peer: MemoryEnd) {
    this.#peer = peer;
  }

  open(listener: TransportListener): void {
    if (this.#listener) throw new RollcallError("WRONG_STATE", "this transport is open already");
    this.#listener = listener;
    this.#letGo = hold.take();
    this.schedule();
  }

  send(frame: string): void {
    if (this.#ending) return;
    checkOutbound(frame, this.maxFrameBytes);
    this.#peer?.take(frame);
  }

  get waitingBytes(): number {
    return this.#peer?.inboxBytes ?? 0;
  }

  get inboxBytes(): number {
    return this.#inboxBytes;
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.schedule();
  }

  close(ending: TransportEnding = NORMAL): void {
    if (this.#ending) return;
    this.#isPaused = false;
    this.#peer?.end(ending);
    this.end(ending);
  }

  take(frame: string): void {
    this.#inbox.push(frame);
    this.#inboxBytes += frame.length;
    if (this.#inboxBytes > TRANSPORT.memoryBytes) {
      const ending = { code: CLOSE_CODE.overload, reason: "the other end does not read" };
      this.#peer?.lose(ending);
      this.lose(ending);
    } else {
      this.schedule();
    }
  }

  /** The end comes after what was sent before it. */
  end(ending: TransportEnding): void {
    this.#ending ??= ending;
    this.schedule();
  }

  lose(ending: TransportEnding): void {
    this.#inbox = [];
    this.#inboxBytes = 0;
    this.#ending ??= ending;
    this.schedule();
  }

  schedule(): void {
    if (this.#isScheduled || !this.#listener) return;
    this.#isScheduled = true;
    setImmediate(this.#deliver);
  }

  readonly #deliver = () => {
    this.#isScheduled = false;
    const listener = this.#listener;
    if (!listener || this.#isOver) return;
    const isLost = this.#ending?.code === CLOSE_CODE.lost;
    if (this.#isPaused && !isLost) return;
    if (!this.#link.isFrozen && this.#inbox.length > 0) {
      this.#hand(listener);
      if (this.#inbox.length === 0) this.#peer?.drained();
    }
    if (!this.#ending || (this.#link.isFrozen && !isLost) || this.#inbox.length > 0) return;
    this.#isOver = true;
    this.#letGo?.();
    listener.onClosed(this.#ending);
  };

  /** All that is there, or up to where the listener pauses. */
  #hand(listener: TransportListener): void {
    const frames = this.#inbox;
    let count = 0;
    while (count < frames.length && !this.#isPaused) {
      const frame = frames[count] ?? "";
      count += 1;
      this.#inboxBytes -= frame.length;
      listener.onFrame(frame);
    }
    // It may have been cut from within.
    if (this.#inbox === frames) this.#inbox = frames.slice(count);
  }

  drained(): void {
    if (!this.#isOver && !this.#ending) this.#listener?.onDrained();
  }
}
