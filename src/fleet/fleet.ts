/**
 * The fleet: who is here, what is each doing, which one needs me. Reports go in through the engine,
 * so they are durable, ordered and the same on every node; rows are made when somebody looks.
 */
import type { By } from "../core/by.ts";
import { RollcallError } from "../core/errors.ts";
import type { Event, RecordedEvent } from "../core/events.ts";
import type { Principal } from "../core/principals.ts";
import { FLEET } from "../core/limits.ts";
import type { QuestionState } from "../core/questions.ts";
import type { Report } from "../core/reports.ts";
import type { State } from "../core/state.ts";
import { EVERYTHING, seesEvent, sightOf, type Sight } from "../core/visibility.ts";
import type { Clock } from "../core/clock.ts";
import type { Engine } from "../engine/engine.ts";
import { Census, type Numbers } from "./census.ts";
import { questionsOf, type AgentQuestion } from "./inbox.ts";
import { rowMeant } from "./lookup.ts";
import { FleetPast, type FleetThen } from "./past.ts";
import { FleetView, type FleetChange } from "./view.ts";
import type { Row } from "./row.ts";
import { rowNamed, rowsOf, type RowsOptions } from "./rows.ts";
import { DEFAULT_PATIENCE, type Patience } from "./stuck.ts";
import { Trail } from "./trail.ts";
import { Turns } from "./turns.ts";

export interface FleetOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly patience?: Patience;
  /** Whose rows it shows: everybody's unless told otherwise. */
  readonly sight?: Sight;
}

export interface FleetNow {
  readonly rows: readonly Row[];
  /** Of the last event they rest on. */
  readonly sequence: number;
  readonly atMs: number;
}

export interface AskedNow extends Omit<FleetNow, "rows"> {
  readonly questions: readonly AgentQuestion[];
}

/** The events of an agent, the oldest first, up to a sequence; and how to go on from there. */
export interface Timeline {
  readonly id: string;
  readonly events: readonly RecordedEvent[];
  readonly sequence: number;
  readonly trail: Trail;
}

/** The bounds of a timeline: the number of events, and their characters together. */
const TIMELINE = { events: 1_000, length: 8 * 1024 * 1024 } as const;

/** Rows of one state differ only by what time does to them, and that is slow. */
const SAME_MS = 500;

/** Fleets as owners see them that are kept: a principal that comes back finds its rows made. */
const KEPT_FLEETS = 100;

export class Fleet {
  readonly #options: FleetOptions;
  readonly #engine: Engine;
  readonly #sight: Sight;
  readonly #patience: Patience;
  readonly #byOwner = new Map<string, Fleet>();
  readonly #view: FleetView;
  readonly #turns = new Turns();
  readonly #past: FleetPast;
  readonly #census: Census;
  #made: FleetNow | undefined;

  constructor(options: FleetOptions) {
    const { engine, clock, patience = {}, sight = EVERYTHING } = options;
    this.#options = options;
    this.#engine = engine;
    this.#sight = sight;
    this.#patience = { ...DEFAULT_PATIENCE, ...patience };
    this.#view = new FleetView({ engine, clock, rows: () => this.rows() });
    this.#past = new FleetPast({ engine, patience: this.#patience, turns: this.#turns, sight });
    this.#census = new Census(clock);
  }

  /** The same fleet as this caller sees it; whoever reads for a caller reads from here. */
  seenBy(caller: Pick<Principal, "name" | "roles">): Fleet {
    const { owner } = sightOf(caller);
    if (owner === this.#sight.owner) return this;
    if (owner === undefined) throw new Error("a fleet cannot show more than it sees");
    const known = this.#byOwner.get(owner);
    if (known) return known;
    const [oldest] = this.#byOwner;
    if (oldest && this.#byOwner.size >= KEPT_FLEETS) this.#byOwner.delete(oldest[0]);
    const made = new Fleet({ ...this.#options, sight: { owner } });
    this.#byOwner.set(owner, made);
    return made;
  }

  /** Resolves when it is durable, to whether it said anything new. */
  async report(report: Report, by: By): Promise<boolean> {
    const { isNew } = await this.#engine.execute({ type: "fleet.report", report }, by);
    return isNew;
  }

  /** Takes the reports of these sources away; resolves to the sources that had one. */
  async dismiss(aliases: readonly string[], by: By): Promise<readonly string[]> {
    const dismissed: string[] = [];
    for (let from = 0; from < aliases.length; from += FLEET.dismissedAtOnce) {
      const some = aliases.slice(from, from + FLEET.dismissedAtOnce);
      const gone = await this.#engine.execute({ type: "fleet.dismiss", aliases: some }, by);
      dismissed.push(...gone.aliases);
    }
    return dismissed;
  }

  /** The last report of every source, but for the registry, which knows its own. */
  reports(): Promise<readonly Report[]> {
    return this.#engine.read(({ reports }) =>
      Array.from(reports.byAlias.values(), ({ report }) => report),
    );
  }

  /** The rows that need a person come first. */
  rows(): Promise<FleetNow> {
    return this.#engine.read((state, sequence) => this.#rowsOf(state, sequence));
  }

  /** The one a person means by an id, the beginning of one, an alias or a name. */
  async find(given: string, atMs?: number): Promise<FleetNow & { readonly row: Row }> {
    const fleet = await (atMs === undefined ? this.rows() : this.at(atMs));
    return { ...fleet, row: rowMeant(fleet.rows, given) };
  }

  async row(id: string): Promise<Row> {
    const row = await this.#engine.read((state) => rowNamed(state, id, this.#now()));
    if (!row) throw new RollcallError("NOT_FOUND", `no agent ${id} in the fleet`);
    return row;
  }

  /** As it was at a moment of the past. */
  at(atMs: number): Promise<FleetThen> {
    return this.#past.at(atMs);
  }

  /** The oldest first; of these states, or of all. */
  async questions(wanted: readonly QuestionState[] = []): Promise<AskedNow> {
    return this.#engine.read((state, sequence) => ({
      questions: questionsOf(state, wanted, this.#sight),
      sequence,
      atMs: this.#engine.nowMs,
    }));
  }

  /** How many there are of each kind, as it was a few seconds ago at most. */
  numbers(): Numbers {
    return this.#engine.peek((state) =>
      this.#census.take(state, () => rowsOf(state, this.#now()), this.#engine.nowMs),
    );
  }

  /** The events of an agent, under all its names, as far as the log reaches back. */
  timeline(row: Pick<Row, "id" | "aliases">): Promise<Timeline> {
    return this.#turns.take(() => this.#timeline(row));
  }

  /** All rows, then those that change; until it is closed or the signal aborts. */
  changes(signal?: AbortSignal): AsyncGenerator<FleetChange, void, undefined> {
    return this.#view.changes(signal);
  }

  close(): void {
    this.#view.close();
    for (const fleet of this.#byOwner.values()) fleet.close();
  }

  /** Whether an event is for those that see this fleet. */
  shows(event: Event): boolean {
    return this.#engine.peek((state) => seesEvent(this.#sight, state, event));
  }

  async #timeline(row: Pick<Row, "id" | "aliases">): Promise<Timeline> {
    const sequence = this.#engine.head;
    const trail = new Trail(row);
    const events: RecordedEvent[] = [];
    let length = 0;
    for await (const recorded of this.#engine.history((text) => trail.mayHold(text))) {
      if (recorded.sequence > sequence) break;
      if (!trail.holds(recorded.event) || !this.shows(recorded.event)) continue;
      length += recorded.text.length;
      events.push(recorded);
      while (events.length > TIMELINE.events || (length > TIMELINE.length && events.length > 1)) {
        length -= events.shift()?.text.length ?? 0;
      }
    }
    return { id: row.id, events, sequence, trail };
  }

  #rowsOf(state: State, sequence: number): FleetNow {
    const atMs = this.#engine.nowMs;
    const made = this.#made;
    if (made?.sequence === sequence && atMs - made.atMs < SAME_MS) return made;
    this.#made = { rows: rowsOf(state, this.#now()), sequence, atMs };
    return this.#made;
  }

  #now(): RowsOptions {
    return { nowMs: this.#engine.nowMs, patience: this.#patience, sight: this.#sight };
  }
}
