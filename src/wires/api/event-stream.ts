/**
 * `GET /v1/events`: the engine's watch as server-sent events, from where the client stood or from
 * now on.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { By } from "../../core/by.ts";
import { RollcallError } from "../../core/errors.ts";
import { sightOf, type Sight } from "../../core/visibility.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Watch } from "../../engine/watch.ts";
import { shownTo } from "../../operations/sight.ts";
import { frameOf, placeFrame } from "./event-frames.ts";
import { watchOptionsOf } from "./event-query.ts";
import { SseStreams, type Frames, type StreamsOptions } from "./sse.ts";

export interface EventStreamsOptions extends StreamsOptions {
  readonly engine: Engine;
}

export class EventStreams extends SseStreams {
  readonly #engine: Engine;

  constructor({ engine, ...options }: EventStreamsOptions) {
    super(options);
    this.#engine = engine;
  }

  readonly serve = async (
    request: IncomingMessage,
    response: ServerResponse,
    by: By,
  ): Promise<void> => {
    if (request.method !== "GET") {
      throw new RollcallError("NOT_FOUND", `no ${request.method ?? ""} /v1/events`);
    }
    const options = watchOptionsOf(request);
    const start = () => {
      const { head } = this.#engine;
      const isVisible = shownTo(this.#engine, by.principal);
      const watch = this.#engine.watch({ ...options, by, isVisible });
      // A new subscriber gets its cursor first, so it can resume even before the first event.
      const first = options.from === undefined ? [placeFrame("bookmark", head)] : [];
      const frames = framesOf(watch, { first, sight: sightOf(by.principal) });
      return { frames, cut: watch.cut, close: () => watch.close() };
    };
    await this.send(response, { by, start });
  };
}

export interface FrameOptions {
  /** Sent before all others. */
  readonly first: readonly Buffer[];
  readonly sight: Sight;
}

export async function* framesOf(watch: Watch, { first, sight }: FrameOptions): Frames {
  yield* first;
  for (let items = await watch.pull(); items.length > 0; items = await watch.pull()) {
    yield Buffer.concat(items.map((item) => frameOf(item, sight)));
  }
  return false;
}
