/**
 * Streams of server-sent events, whatever they tell. A stream takes the next frame from its source
 * only when the socket has taken the last one, so a slow client costs a place and not a buffer.
 *
 *   open ──▶ take ──▶ write ──▶ (wait for the socket) ──▶ take …
 *              │                   │ cut by the source, or nothing read for too long
 *              │ source ends       ▼
 *              └──────────▶ event: error, end
 *
 * A stream may outlive what its caller may do: it is asked for again before each frame, and twice a
 * second while there is none.
 */
import type { ServerResponse } from "node:http";
import { RollcallError } from "../../core/errors.ts";
import type { By } from "../../core/by.ts";
import { checkShare, Holdings, wishOf } from "../../core/shares.ts";
import type { Clock } from "../../core/clock.ts";
import { systemClock } from "../../machine/clock.ts";
import type { WaitingBytes } from "../../net/waiting.ts";
import { errorFrame, HEARTBEAT_FRAME, OPENING } from "./event-frames.ts";
import { EVENT_STREAM } from "./limits.ts";

/** Gives at its end whether all is told that there will ever be; else this node closes. */
export type Frames = AsyncGenerator<Buffer, boolean, undefined>;

export interface SseSource {
  /** Ends when all is told, when this node closes, or soon after `close` was called. */
  readonly frames: Frames;
  /** Aborts, with the reason, when whoever reads is too far behind. */
  readonly cut?: AbortSignal;
  /** The client is gone. */
  close(): void;
}

/** A stream to be sent. */
export interface StreamRequest {
  readonly by: By;
  readonly start: () => SseSource;
  /** Throws once the caller may not have it any more. */
  readonly check?: () => void;
}

export interface StreamsOptions {
  readonly clock?: Clock;
  readonly maxStreams?: number;
  /** Counts frames that their clients have not read. */
  readonly answers?: WaitingBytes | undefined;
}

/** All streams of a door. */
export class SseStreams {
  readonly #clock: Clock;
  readonly #answers: WaitingBytes | undefined;
  readonly #maxStreams: number;
  readonly #holdings = new Holdings();
  /** Streams of callers whose access may be taken away later. */
  readonly #checked = new Set<SseStream>();
  #stopLooking: (() => void) | undefined;

  constructor({ clock = systemClock, answers, ...options }: StreamsOptions) {
    const { maxStreams = EVENT_STREAM.streams } = options;
    this.#clock = clock;
    this.#answers = answers;
    this.#maxStreams = maxStreams;
  }

  get open(): number {
    return this.#holdings.total;
  }

  /** Resolves when the stream is over. Rejects only before anything was sent. */
  async send(response: ServerResponse, { by, start, check }: StreamRequest): Promise<void> {
    const { name } = by.principal;
    const wish = wishOf(this.#holdings, name);
    checkShare({ limit: this.#maxStreams, noun: "streams" }, wish);
    const [clock, answers] = [this.#clock, this.#answers];
    const stream = new SseStream(response, start(), { clock, answers, check });
    this.#holdings.add(name);
    if (check) {
      this.#checked.add(stream);
      this.#stopLooking ??= this.#lookLater();
    }
    try {
      await stream.run();
    } finally {
      this.#holdings.remove(name);
      this.#checked.delete(stream);
      if (this.#checked.size === 0) this.#rest();
    }
  }

  #lookLater(): () => void {
    return this.#clock.after(EVENT_STREAM.lookMs, () => {
      for (const stream of this.#checked) stream.look();
      this.#stopLooking = this.#lookLater();
    });
  }

  #rest(): void {
    this.#stopLooking?.();
    this.#stopLooking = undefined;
  }
}

interface SseStreamOptions {
  readonly clock: Clock;
  readonly answers: WaitingBytes | undefined;
  readonly check: StreamRequest["check"] | undefined;
}

class SseStream {
  readonly #response: ServerResponse;
  readonly #source: SseSource;
  readonly #clock: Clock;
  readonly #answers: WaitingBytes | undefined;
  readonly #check: (() => void) | undefined;
  /** Aborts, with the reason, once its caller may not have it any more. */
  readonly #denied = new AbortController();
  #stopHeartbeat: () => void = () => undefined;

  constructor(response: ServerResponse, source: SseSource, options: SseStreamOptions) {
    this.#response = response;
    this.#source = source;
    this.#clock = options.clock;
    this.#answers = options.answers;
    this.#check = options.check;
  }

  /** Ends the stream if its caller may not have it any more. */
  look(): void {
    try {
      if (!this.#denied.signal.aborted) this.#check?.();
    } catch (error) {
      this.#denied.abort(error);
      this.#source.close();
    }
  }

  /** Others need the room that this one's unread frames take. */
  cut(): void {
    this.#response.destroy();
  }

  async run(): Promise<void> {
    const response = this.#response;
    const { frames } = this.#source;
    response.on("close", () => this.#source.close());
    if (response.destroyed) this.#source.close();
    response.writeHead(200, { "Content-Type": "text/event-stream; charset=utf-8" });
    try {
      await this.#write(OPENING);
      for (;;) {
        this.#beatLater();
        const next = await frames.next();
        this.#stopHeartbeat();
        this.look();
        this.#denied.signal.throwIfAborted();
        if (next.done !== true) await this.#write(next.value);
        else if (next.value) return void response.end();
        else throw new RollcallError("UNAVAILABLE", "this node is closing");
      }
    } catch (error) {
      this.#end(error);
    } finally {
      this.#stopHeartbeat();
      this.#source.close();
      await frames.return(false).catch(() => undefined);
    }
  }

  /** Resolves when the client can take more; rejects when it is gone, cut or reads nothing. */
  #write(bytes: Buffer): Promise<void> {
    const response = this.#response;
    if (response.destroyed) return Promise.reject(gone());
    if (response.write(bytes)) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const { cut } = this.#source;
      const denied = this.#denied.signal;
      const settle = (error?: Error) => {
        cancel();
        this.#answers?.release(this);
        response.off("drain", onDrain);
        response.off("close", onClose);
        cut?.removeEventListener("abort", onCut);
        denied.removeEventListener("abort", onDenied);
        if (error) reject(error);
        else resolve();
      };
      const onDrain = () => settle();
      const onClose = () => settle(gone());
      const onCut = () => settle(cut?.reason as RollcallError);
      const onDenied = () => settle(denied.reason as RollcallError);
      const cancel = this.#clock.after(EVENT_STREAM.stallMs, () => {
        const message = `nothing was read for ${EVENT_STREAM.stallMs} ms`;
        settle(new RollcallError("SLOW_CONSUMER", message));
      });
      response.on("drain", onDrain);
      response.on("close", onClose);
      cut?.addEventListener("abort", onCut);
      denied.addEventListener("abort", onDenied);
      if (cut?.aborted) onCut();
      else this.#answers?.hold(this, response.writableLength);
    });
  }

  #beatLater(): void {
    this.#stopHeartbeat = this.#clock.after(EVENT_STREAM.heartbeatMs, () => {
      if (!this.#response.writableNeedDrain) this.#response.write(HEARTBEAT_FRAME);
      this.#beatLater();
    });
  }

  #end(error: unknown): void {
    const response = this.#response;
    if (response.destroyed) return;
    response.end(errorFrame(error));
    const cancel = this.#clock.after(EVENT_STREAM.farewellMs, () => response.destroy());
    response.on("close", cancel);
  }
}

function gone(): RollcallError {
  return new RollcallError("CANCELLED", "the client went away");
}
