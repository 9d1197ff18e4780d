/**
 * The fleet: who is here, what is each doing, which one needs me. Reports go in through the engine,
 * so they are durable, ordered and the same on every node. Rows are kept, and made anew when one of
 * their facts changes:
 *
 *   facts (sources.ts) ──▶ row (row.ts) ──▶ indexes (indexes.ts)     kept by view.ts, views.ts
 */
import type { By } from "../core/by.ts";
import { RollcallError } from "../core/errors.ts";
import type { Event, RecordedEvent } from "../core/events.ts";
import type { Principal } from "../core/principals.ts";
import { FLEET } from "../core/limits.ts";
import type { QuestionState } from "../core/questions.ts";
import { holderOf } from "../core/report-owners.ts";
import type { Report } from "../core/reports.ts";
import { EVERYTHING, seesEvent, sightOf, type Sight } from "../core/visibility.ts";
import type { Clock } from "../core/clock.ts";
import type { Engine } from "../engine/engine.ts";
import { inSlices, othersAreServed } from "../machine/slices.ts";
import type { Counts } from "./census.ts";
import type { FleetFollowOptions, FleetChange } from "./changes.ts";
import { ALL, type FleetFilters } from "./filters.ts";
import { placesOf, type RowPlace } from "./headline.ts";
import { KeptQuestions, type QuestionsNow } from "./kept-questions.ts";
import type { RowPageBounds } from "./indexes.ts";
import { found as foundIn, keptNamed, rowMeant, seekKept } from "./lookup.ts";
import { FleetPast, type FleetThen } from "./past.ts";
import type { Row } from "./row.ts";
import { DEFAULT_PATIENCE, type Patience } from "./stuck.ts";
import { Trail } from "./trail.ts";
import { LogTurns } from "./turns.ts";
import type { FleetView, KeptRow } from "./view.ts";
import { FleetViews } from "./views.ts";

export interface FleetOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly patience?: Patience;
}

/** The same for the fleets of all owners. */
interface SharedParts extends FleetOptions {
  readonly views: FleetViews;
  readonly turns: LogTurns;
  readonly sight: Sight;
}

export interface FleetNow {
  readonly rows: readonly Row[];
  /** Of the last event they rest on. */
  readonly sequence: number;
  readonly atMs: number;
}

export interface FoundRow extends Omit<FleetNow, "rows"> {
  readonly row: Row;
}

export interface FleetPage extends FleetNow {
  /** How many are wanted, on all pages together. */
  readonly total: number;
  /** Behind which the next page begins; absent on the last one. */
  readonly next?: RowPlace | undefined;
  /** As of an index (indexes.ts). */
  readonly isPartial?: boolean;
  /** Of all agents, also of those not wanted. */
  readonly counts: Counts;
}

export interface FleetNumbers {
  readonly headlines: Counts;
  readonly openQuestions: number;
  /** Since when the agent that has waited longest for a person does; null where none waits. */
  readonly askedAtMs: number | null;
}

/** The events of an agent, the oldest first, up to a sequence; and how to go on from there. */
export interface Timeline {
  readonly id: string;
  readonly events: readonly RecordedEvent[];
  readonly sequence: number;
  readonly trail: Trail;
}

/** Whether the policies leave an event to the caller. */
type IsShown = (event: Event) => boolean;

/** The bounds of a timeline: the number of events, and their characters together. */
const TIMELINE = { events: 1_000, length: 8 * 1024 * 1024 } as const;

/** Rows that are made in one go: some milliseconds. */
const PAGE_ROWS = 250;

/** Fleets as owners see them; one is little more than what it remembers of the past. */
const KEPT_FLEETS = 100;

export class Fleet {
  readonly #parts: SharedParts;
  readonly #engine: Engine;
  readonly #sight: Sight;
  readonly #byOwner = new Map<string, Fleet>();
  readonly #views: FleetViews;
  readonly #turns: LogTurns;
  readonly #past: FleetPast;
  readonly #questions: KeptQuestions;

  constructor(options: FleetOptions | SharedParts) {
    const { engine } = options;
    const patience = { ...DEFAULT_PATIENCE, ...options.patience };
    this.#parts = "views" in options ? options : { ...options, ...newParts(options, patience) };
    this.#turns = new LogTurns(this.#parts.turns);
    this.#engine = engine;
    this.#sight = this.#parts.sight;
    this.#views = this.#parts.views;
    const { questions: revision } = this.#views;
    this.#questions = new KeptQuestions({ engine, sight: this.#sight, revision });
    this.#past = new FleetPast({ engine, patience, turns: this.#turns, sight: this.#sight });
  }

  /** The same fleet as this caller sees it; reads in a caller's name begin here. */
  seenBy(caller: Pick<Principal, "name" | "roles">): Fleet {
    const { owner } = sightOf(caller);
    if (owner === this.#sight.owner) return this;
    if (owner === undefined) throw new Error("a fleet cannot show more than it sees");
    const known = this.#byOwner.get(owner);
    if (known) return known;
    const [oldest] = this.#byOwner;
    if (oldest && this.#byOwner.size >= KEPT_FLEETS) this.#byOwner.delete(oldest[0]);
    const made = new Fleet({ ...this.#parts, sight: { owner } });
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

  /** The first rows that are wanted, behind those of the page before. */
  page(filters: FleetFilters, bounds: RowPageBounds): Promise<FleetPage> {
    return this.#views.look(this.#sight, ({ view, sequence, atMs, row }) => {
      const { items, next, ...page } = view.indexes.page(filters, bounds);
      const rows = items.map((each) => row(each));
      // A row that is kept changes its place.
      const place = next && { place: next.place, id: next.id };
      return { rows, ...page, next: place, counts: view.indexes.counts, sequence, atMs };
    });
  }

  /** All rows up to so many, also those that are folded away; a page at a time. */
  async rows(most = Infinity): Promise<FleetPage> {
    const page = await this.page(ALL, { limit: Math.min(most, PAGE_ROWS) });
    const rows = [...page.rows];
    let { next: after } = page;
    while (after && rows.length < most) {
      await othersAreServed();
      const more = await this.page(ALL, { limit: Math.min(most - rows.length, PAGE_ROWS), after });
      rows.push(...more.rows);
      after = more.next;
    }
    return { ...page, rows, next: after };
  }

  /** The one a person means by an id, the beginning of one, an alias or a name. */
  async find(given: string, atMs?: number): Promise<FoundRow> {
    if (atMs !== undefined) {
      const fleet = await this.at(atMs);
      return { sequence: fleet.sequence, atMs: fleet.atMs, row: rowMeant(fleet.rows, given) };
    }
    const named = await this.#look((view) => keptNamed(view, given));
    if (named) return named;
    const seeking = await this.#views.look(this.#sight, ({ view }) => seekKept(view, given));
    const { id } = foundIn(await inSlices(seeking));
    return (await this.#look((view) => view.kept(id))) ?? notFound(given);
  }

  async row(id: string): Promise<Row> {
    const found = await this.#look((view) => view.kept(id));
    return found ? found.row : notFound(id);
  }

  /** As it was at a moment of the past. */
  at(atMs: number): Promise<FleetThen> {
    return this.#past.at(atMs);
  }

  /** The oldest first; of these states, or of all. */
  questions(wanted: readonly QuestionState[] = []): Promise<QuestionsNow> {
    return this.#questions.of(wanted);
  }

  /** How many there are of each kind, here and now. */
  numbers(): FleetNumbers {
    return this.#views.peek(({ indexes }, { questions }) => {
      const { items } = indexes.page({ ...ALL, needs: "me" }, { limit: 1 });
      const { from } = placesOf("NEEDS YOU");
      const askedAtMs = items[0] ? items[0].place - from : null;
      return { headlines: indexes.counts, openQuestions: questions.openOf.size, askedAtMs };
    });
  }

  /**
   * The events of an agent, under all its names, as far as the log reaches back; without those that
   * are not for the caller.
   */
  timeline(row: Pick<Row, "id" | "aliases">, isShown: IsShown = () => true): Promise<Timeline> {
    return this.#turns.take(() => this.#timeline(row, isShown));
  }

  /** The rows to begin with, then those that change; until it is closed or the signal aborts. */
  changes(options: FleetFollowOptions = {}): AsyncGenerator<FleetChange, void, undefined> {
    return this.#views.changes(this.#sight).follow(options);
  }

  close(): void {
    this.#views.close();
  }

  trail(row: Pick<Row, "id" | "aliases">): Trail {
    const holder = this.#engine.peek((state) => holderOf(state, row.id));
    return new Trail(row, holder);
  }

  #look(select: (view: FleetView) => KeptRow | undefined): Promise<FoundRow | undefined> {
    return this.#views.look(this.#sight, ({ view, sequence, atMs, row }) => {
      const kept = select(view);
      return kept && { sequence, atMs, row: row(kept) };
    });
  }

  async #timeline(row: Pick<Row, "id" | "aliases">, isShown: IsShown): Promise<Timeline> {
    const sequence = this.#engine.head;
    const trail = this.trail(row);
    const isSeen = (event: Event) =>
      this.#engine.peek((state) => seesEvent(this.#sight, state, event)) && isShown(event);
    const events: RecordedEvent[] = [];
    let length = 0;
    for await (const recorded of this.#engine.history((text) => trail.mayHold(text))) {
      if (recorded.sequence > sequence) break;
      if (!trail.holds(recorded.event) || !isSeen(recorded.event)) continue;
      length += recorded.text.length;
      events.push(recorded);
      while (events.length > TIMELINE.events || (length > TIMELINE.length && events.length > 1)) {
        length -= events.shift()?.text.length ?? 0;
      }
    }
    return { id: row.id, events, sequence, trail };
  }
}

function newParts({ engine, clock }: FleetOptions, patience: Patience) {
  const views = new FleetViews({ engine, clock, patience });
  return { sight: EVERYTHING, views, turns: new LogTurns() };
}

function notFound(id: string): never {
  throw new RollcallError("NOT_FOUND", `no agent ${id} in the fleet`);
}
