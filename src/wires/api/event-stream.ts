/**
 * `GET /v1/events`: the engine's watch as server-sent events. The stream pulls from the watch only
 * when the socket has taken what was written, so a slow client costs a cursor and not a buffer.
 *
 *   open ──▶ pull ──▶ write ──▶ (wait for the socket) ──▶ pull …
 *              │                   │ cut by the engine, or nothing read for too long
 *              │ engine closes     ▼
 *              └──────────▶ event: error, end
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { RollcallError } from "../../core/errors.ts";
import { systemClock, type Clock } from "../../engine/clock.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Watch } from "../../engine/watch.ts";
import { errorFrame, frameOf, HEARTBEAT, OPENING, placeFrame } from "./event-frames.ts";
import { watchOptionsOf } from "./event-query.ts";
import { EVENT_STREAM } from "./limits.ts";

export interface EventStreamsOptions {
  readonly engine: Engine;
  readonly clock?: Clock;
  readonly maxStreams?: number;
}

/** All streams of a door. */
export class EventStreams {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #maxStreams: number;
  #open = 0;

  constructor({ engine, clock = systemClock, maxStreams }: EventStreamsOptions) {
    this.#engine = engine;
    this.#clock = clock;
    this.#maxStreams = maxStreams ?? EVENT_STREAM.streams;
  }

  get open(): number {
    return this.#open;
  }

  readonly serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method !== "GET") {
      throw new RollcallError("NOT_FOUND", `no ${request.method ?? ""} /v1/events`);
    }
    const options = watchOptionsOf(request);
    if (this.#open >= this.#maxStreams) {
      throw new RollcallError("LIMIT_EXCEEDED", `there are already ${this.#maxStreams} streams`);
    }
    const { head } = this.#engine;
    const watch = this.#engine.watch(options);
    this.#open += 1;
    const stream = new EventStream(response, watch, this.#clock);
    try {
      // Who starts now learns where that is, and can resume even if nothing happens before it must.
      await stream.run(options.from === undefined ? [placeFrame("bookmark", head)] : []);
    } finally {
      this.#open -= 1;
    }
  };
}

class EventStream {
  readonly #response: ServerResponse;
  readonly #watch: Watch;
  readonly #clock: Clock;
  #stopHeartbeat: () => void = () => undefined;

  constructor(response: ServerResponse, watch: Watch, clock: Clock) {
    this.#response = response;
    this.#watch = watch;
    this.#clock = clock;
  }

  async run(first: readonly Buffer[]): Promise<void> {
    const response = this.#response;
    response.on("close", () => this.#watch.close());
    response.writeHead(200, { "Content-Type": "text/event-stream; charset=utf-8" });
    try {
      await this.#write(Buffer.concat([OPENING, ...first]));
      for (;;) {
        this.#beatLater();
        const items = await this.#watch.pull();
        this.#stopHeartbeat();
        if (items.length === 0) throw new RollcallError("UNAVAILABLE", "this node is closing");
        await this.#write(Buffer.concat(items.map(frameOf)));
      }
    } catch (error) {
      this.#end(error);
    } finally {
      this.#stopHeartbeat();
      this.#watch.close();
    }
  }

  /** Resolves when the client can take more; rejects when it is gone, cut or reads nothing. */
  #write(bytes: Buffer): Promise<void> {
    const response = this.#response;
    if (response.destroyed) return Promise.reject(gone());
    if (response.write(bytes)) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const { cut } = this.#watch;
      const settle = (error?: Error) => {
        cancel();
        response.off("drain", onDrain);
        response.off("close", onClose);
        cut.removeEventListener("abort", onCut);
        if (error) reject(error);
        else resolve();
      };
      const onDrain = () => settle();
      const onClose = () => settle(gone());
      const onCut = () => settle(cut.reason as RollcallError);
      const cancel = this.#clock.after(EVENT_STREAM.stallMs, () => {
        const message = `nothing was read for ${EVENT_STREAM.stallMs} ms`;
        settle(new RollcallError("SLOW_CONSUMER", message));
      });
      response.on("drain", onDrain);
      response.on("close", onClose);
      cut.addEventListener("abort", onCut);
      if (cut.aborted) onCut();
    });
  }

  #beatLater(): void {
    this.#stopHeartbeat = this.#clock.after(EVENT_STREAM.heartbeatMs, () => {
      if (!this.#response.writableNeedDrain) this.#response.write(HEARTBEAT);
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
