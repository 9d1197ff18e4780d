/**
 * The fleet of past moments. To make one, the log is read from the snapshot before it, so the last
 * one is kept: it is asked for again, for its next page.
 */
import { invalidArgument } from "../core/errors.ts";
import { jobSummary } from "../core/host-jobs.ts";
import { summaryOf, type JobSummary } from "../core/job-listing.ts";
import type { State } from "../core/state.ts";
import { seesJob, type Sight } from "../core/visibility.ts";
import type { Engine } from "../engine/engine.ts";
import type { FleetNow } from "./fleet.ts";
import { makeQuestions, type AgentQuestion } from "./inbox.ts";
import { inSlices } from "../machine/slices.ts";
import { makeRows } from "./rows.ts";
import type { Patience } from "./stuck.ts";
import type { LogTurns } from "./turns.ts";

/** A caller's clock may be ahead of the engine's by this: its moment counts as now. */
const CLOCKS_DIFFER_MS = 60_000;
/** A larger fleet is not worth its memory between two looks. */
const KEPT_ROWS = 20_000;

export interface FleetThen extends FleetNow {
  /** The oldest first. */
  readonly questions: readonly AgentQuestion[];
  /** In no order. */
  readonly jobs: readonly JobSummary[];
}

export interface FleetPastOptions {
  readonly engine: Engine;
  readonly patience: Patience;
  readonly turns: LogTurns;
  readonly sight: Sight;
}

export class FleetPast {
  readonly #engine: Engine;
  readonly #patience: Patience;
  readonly #turns: LogTurns;
  readonly #sight: Sight;
  #last: FleetThen | undefined;

  constructor({ engine, patience, turns, sight }: FleetPastOptions) {
    this.#engine = engine;
    this.#patience = patience;
    this.#turns = turns;
    this.#sight = sight;
  }

  async at(givenMs: number): Promise<FleetThen> {
    const { nowMs } = this.#engine;
    const atMs = Math.min(givenMs, nowMs);
    if (givenMs > nowMs + CLOCKS_DIFFER_MS) {
      throw invalidArgument("at is in the future");
    }
    return this.#turns.take(() => this.#make(atMs));
  }

  async #make(atMs: number): Promise<FleetThen> {
    if (this.#last?.atMs === atMs) return this.#last;
    const { state, sequence } = await this.#engine.past(atMs);
    const sight = this.#sight;
    const making = makeRows(state, { nowMs: atMs, patience: this.#patience, sight });
    const rows = await inSlices(making);
    const jobs = [...jobsSeen(state, sight)];
    const questions = await inSlices(makeQuestions(state, sight));
    const then = { rows, questions, jobs, sequence, atMs };
    const isOver = atMs < this.#engine.nowMs;
    this.#last = isOver && rows.length <= KEPT_ROWS ? then : undefined;
    return then;
  }
}

function* jobsSeen(state: State, sight: Sight): Generator<JobSummary> {
  for (const { job } of state.jobs.byId.values()) if (seesJob(sight, job)) yield summaryOf(job);
  if (sight.owner !== undefined) return;
  for (const { job } of state.hostJobs.byId.values()) yield jobSummary(state, job);
}
