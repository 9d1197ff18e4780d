/**
 * The fleet of past moments. To make one, the log is read from the snapshot before it, which may be
 * a second's work: one at a time, a few wait, and the last one is kept for its next page.
 */
import { RollcallError } from "../core/errors.ts";
import type { Engine } from "../engine/engine.ts";
import type { FleetNow } from "./fleet.ts";
import { questionsOf, type AgentQuestion } from "./inbox.ts";
import { rowsOf } from "./rows.ts";
import type { Patience } from "./stuck.ts";

/** Beyond, callers are told to come back. */
const WAITING_MOST = 8;
/** What a caller's clock may be ahead of the engine's: that moment is now. */
const CLOCKS_DIFFER_MS = 60_000;
/** A larger fleet is not worth its memory between two looks. */
const KEPT_ROWS = 20_000;

export interface FleetThen extends FleetNow {
  /** The oldest first. */
  readonly questions: readonly AgentQuestion[];
}

export class FleetPast {
  readonly #engine: Engine;
  readonly #patience: Patience;
  #last: FleetThen | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(engine: Engine, patience: Patience) {
    this.#engine = engine;
    this.#patience = patience;
  }

  async at(givenMs: number): Promise<FleetThen> {
    const { nowMs } = this.#engine;
    const atMs = Math.min(givenMs, nowMs);
    if (givenMs > nowMs + CLOCKS_DIFFER_MS) {
      throw new RollcallError("INVALID_ARGUMENT", "at is a moment that is yet to come");
    }
    if (this.#waiting >= WAITING_MOST) {
      throw new RollcallError("LIMIT_EXCEEDED", `${WAITING_MOST} already wait for the past`);
    }
    this.#waiting += 1;
    const made = this.#turn.then(() => this.#make(atMs));
    this.#turn = made.catch(() => undefined);
    try {
      return await made;
    } finally {
      this.#waiting -= 1;
    }
  }

  async #make(atMs: number): Promise<FleetThen> {
    if (this.#last?.atMs === atMs) return this.#last;
    const { state, sequence } = await this.#engine.past(atMs);
    const rows = rowsOf(state, { nowMs: atMs, patience: this.#patience });
    const then = { rows, questions: questionsOf(state), sequence, atMs };
    const isOver = atMs < this.#engine.nowMs;
    this.#last = isOver && rows.length <= KEPT_ROWS ? then : undefined;
    return then;
  }
}
