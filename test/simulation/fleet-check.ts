/** The rows that a node keeps of its fleet, compared with those that its state gives. */
import type { Clock } from "../../src/core/clock.ts";
import type { Topic } from "../../src/core/events.ts";
import { EVERYTHING } from "../../src/core/visibility.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { Observer } from "../../src/engine/observer.ts";
import { DEFAULT_PATIENCE } from "../../src/fleet/stuck.ts";
import { FleetViews } from "../../src/fleet/views.ts";
import { differences } from "../support/fleet/compare.ts";

export class FleetCheck {
  readonly #engine: Engine;
  readonly #views: FleetViews;

  /** `unheard`: events that the views are not told of. */
  constructor(engine: Engine, clock: Clock, unheard: Topic | undefined) {
    this.#engine = engine;
    const add = (observer: Observer) =>
      engine.observers.add({
        before(event, state) {
          if (event.type !== unheard) observer.before(event, state);
        },
        heard: (agentId) => observer.heard?.(agentId),
        felt: (job) => observer.felt?.(job),
        replaced: (...state) => observer.replaced(...state),
      });
    this.#views = new FleetViews({
      engine: {
        observers: { add },
        peek: (select) => engine.peek(select),
        read: (select) => engine.read(select),
        get nowMs() {
          return engine.nowMs;
        },
      },
      clock,
      patience: DEFAULT_PATIENCE,
    });
  }

  differences(): readonly string[] {
    return this.#views.peek((view, state) =>
      differences(view, { state, nowMs: this.#engine.nowMs, sight: EVERYTHING }),
    );
  }
}
