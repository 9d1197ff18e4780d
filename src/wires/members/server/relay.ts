/**
 * The leader's end of a relayed connection: what the client's member hands on looks like any other
 * transport to the wire behind it.
 *
 *   client ──▶ member ══ Relay ══▶ leader: RelayTransport ──▶ ARCP
 */
import { create } from "@bufbuild/protobuf";
import type { By } from "../../../core/by.ts";
import { invalidArgument, type RollcallError } from "../../../core/errors.ts";
import {
  RelayResponseSchema,
  type RelayOpening,
  type RelayRequest,
  type RelayResponse,
} from "../gen/rollcall/members/v1/members_pb.ts";
import { MEMBER_WIRE } from "../limits.ts";
import { callerOf, errorOf } from "../messages.ts";

/** The caller as the member knows it, or why it is not let in. */
export type RelayCaller = { readonly by: By } | { readonly refusal: RollcallError };

export interface RelayHost {
  accept(transport: RelayTransport, caller: RelayCaller): void;
}

export interface RelayEnding {
  readonly code: number;
  readonly reason: string;
}

interface RelayListener {
  onFrame(frame: string): void;
  onDrained(): void;
  onClosed(ending: RelayEnding): void;
}

export async function* serveRelay(
  requests: AsyncIterable<RelayRequest>,
  host: RelayHost,
  signal: AbortSignal,
): AsyncGenerator<RelayResponse> {
  const incoming = requests[Symbol.asyncIterator]();
  const first = await incoming.next();
  const opening = first.done ? undefined : first.value.opening;
  if (!opening) throw invalidArgument("the first message of a relay is its opening");
  const transport = new RelayTransport();
  const stop = () => transport.lose();
  signal.addEventListener("abort", stop, { once: true });
  host.accept(transport, relayCaller(opening));
  void transport.receive(incoming);
  try {
    yield* transport.outgoing();
  } finally {
    signal.removeEventListener("abort", stop);
    transport.lose();
  }
}

function relayCaller({ byJson, refusalCode, refusalMessage }: RelayOpening): RelayCaller {
  if (refusalCode !== "") return { refusal: errorOf(refusalCode, refusalMessage) };
  return { by: callerOf(byJson) };
}

const LOST: RelayEnding = { code: 1006, reason: "the member that relays it is gone" };

/** Has the shape of an ARCP transport. */
export class RelayTransport {
  readonly maxFrameBytes = MEMBER_WIRE.relayBytes / 2;
  #listener: RelayListener | undefined;
  #outgoing: string[] = [];
  #ending: RelayEnding | undefined;
  #isOver = false;
  #waitingBytes = 0;
  #wake: () => void = () => undefined;
  #resume: (() => void) | undefined;
  #opened: () => void = () => undefined;
  readonly #isOpen = new Promise<void>((resolve) => (this.#opened = resolve));

  open(listener: RelayListener): void {
    this.#listener = listener;
    this.#opened();
  }

  send(frame: string): void {
    if (this.#ending) return;
    this.#outgoing.push(frame);
    this.#waitingBytes += frame.length;
    this.#wake();
  }

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  pause(): void {
    this.#resume ??= () => undefined;
  }

  resume(): void {
    const resume = this.#resume;
    this.#resume = undefined;
    resume?.();
  }

  close(ending: RelayEnding = { code: 1000, reason: "" }): void {
    if (this.#ending) return;
    this.#ending = ending;
    this.#wake();
    queueMicrotask(() => this.#end(ending));
  }

  /** The other end is gone: nothing more can be told to it. */
  lose(): void {
    this.#ending ??= LOST;
    this.#wake();
    this.#end(this.#ending);
  }

  #end(ending: RelayEnding): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#opened();
    this.resume();
    this.#listener?.onClosed(ending);
  }

  async receive(incoming: AsyncIterator<RelayRequest>): Promise<void> {
    await this.#isOpen;
    try {
      for (let next = await incoming.next(); !next.done; next = await incoming.next()) {
        for (const frame of next.value.frames) {
          if (this.#resume) await new Promise<void>((resolve) => (this.#resume = resolve));
          if (this.#isOver) return;
          this.#listener?.onFrame(frame);
        }
      }
    } catch {
      // The stream broke: the same as its end.
    }
    this.lose();
  }

  async *outgoing(): AsyncGenerator<RelayResponse> {
    for (;;) {
      const frames = this.#outgoing;
      this.#outgoing = [];
      if (frames.length > 0) {
        yield create(RelayResponseSchema, { frames });
        // Asked for more: these were taken.
        this.#waitingBytes -= frames.reduce((sum, { length }) => sum + length, 0);
        if (this.#waitingBytes === 0 && !this.#isOver) this.#listener?.onDrained();
      } else if (this.#ending) {
        yield create(RelayResponseSchema, { ending: this.#ending });
        return;
      } else {
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    }
  }
}
