/**
 * Rows, kept. A row is a pure function of its facts and of time (row.ts), so it need be made only
 * when one of its facts changes, or when the moment comes that it names itself:
 *
 *   event ──▶ sources touched ──▶ rows to be made ──▶ made, and put where they belong (indexes.ts)
 *   time  ──▶ deadline passed ─────────▲
 *
 * Events only leave a mark. Rows are made when somebody looks, or a few at a time once many wait,
 * so that many changes of one row cost one row. Two things change without an event: the heartbeat
 * that an agent sends after a long silence, and what running jobs say. The rows that they could
 * change are looked at whenever somebody looks: there are few of them.
 *
 * There is one view for those who see everything, and one for each owner that looks, which holds
 * the rows of that owner alone.
 */
import { Heap, type Slot } from "../core/heap.ts";
import type { Report } from "../core/reports.ts";
import type { State } from "../core/state.ts";
import type { Sight } from "../core/visibility.ts";
import { hostsOf } from "./filters.ts";
import { isLongSilent, placeOf, type Headline } from "./headline.ts";
import { RowIndexes, type IndexedRow } from "./indexes.ts";
import { jobsOfRow } from "./job-agents.ts";
import { timedRow, type Row, type TimedRow } from "./row.ts";
import { nameOf, reportOf, rowIdOfSource, type SourceKey } from "./sources.ts";
import type { Patience } from "./stuck.ts";

/** What is kept of a row: enough to find it, and to make it when it is shown. */
export interface KeptRow extends IndexedRow {
  readonly sources: SourceKey[];
  /** Negative until it was made. */
  place: number;
  headline: Headline;
  isCounted: boolean;
  workspace: string | null;
  hosts: readonly string[];
  name: string;
  stuckSinceMs: number | null;
  /** Of the state that it was last made of; half of one more where time alone made it another. */
  sequence: number;
  /** Of its text as it was last told (changes.ts); 0 where nobody was told. */
  digest: number;
  /** Rings when time alone makes it another. */
  timer: Slot<KeptRow> | undefined;
}

/** The moment at which rows are made. */
export interface ViewMoment {
  readonly nowMs: number;
  readonly sequence: number;
}

export interface FleetViewOptions {
  readonly patience: Patience;
  readonly sight: Sight;
  /** A row was made, and may be another than before; nothing for one that is no more. */
  readonly onMade?: ((kept: KeptRow, row: Row | undefined) => void) | undefined;
  /** A source was looked at; nothing for one that is no more. */
  readonly onSource?:
    | ((key: SourceKey, report: Report | undefined, state: State) => void)
    | undefined;
}

export class FleetView {
  readonly #options: FleetViewOptions;
  readonly #byId = new Map<string, KeptRow>();
  readonly #bySource = new Map<SourceKey, KeptRow>();
  readonly #deadlines = new Heap<KeptRow>();
  /** Rows that may change without an event. */
  readonly #stuck = new Set<KeptRow>();
  readonly #running = new Set<KeptRow>();
  /** What is left to do: sources that were not looked at yet or were touched, and rows. */
  #unread: Iterator<SourceKey> | undefined;
  readonly #touched = new Set<SourceKey>();
  readonly #unmade = new Set<KeptRow>();
  readonly #aged = new Set<KeptRow>();
  readonly indexes = new RowIndexes<KeptRow>();

  constructor(options: FleetViewOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** How many sources and rows wait to be looked at. */
  get waiting(): number {
    const rows = this.#unmade.size + this.#aged.size;
    return this.#touched.size + rows + (this.#unread ? Infinity : 0);
  }

  /** When the next row becomes another by time alone. */
  get nextAtMs(): number {
    return this.#deadlines.nextAt() ?? Infinity;
  }

  /** These are all the sources that there are; touched ones come on top. */
  read(sources: Iterable<SourceKey>): void {
    this.#unread = sources[Symbol.iterator]();
  }

  touch(key: SourceKey): void {
    this.#touched.add(key);
  }

  touchRow(id: string): void {
    const row = this.#byId.get(id);
    if (row) this.#unmade.add(row);
  }

  /** Makes what is to be made, up to so many sources and rows; whether that was all. */
  update(state: State, moment: ViewMoment, most = Infinity): boolean {
    let left = most - this.#placeTouched(state, most);
    for (; this.#unread && left > 0; left -= 1) {
      const next = this.#unread.next();
      if (next.done) this.#unread = undefined;
      else this.#place(state, next.value);
    }
    this.#letTimePass(state, moment.nowMs);
    left -= this.#makeAll(this.#unmade, state, { moment, most: left });
    const { nowMs, sequence } = moment;
    const aged = { nowMs, sequence: sequence + 0.5 };
    left -= this.#makeAll(this.#aged, state, { moment: aged, most: left });
    return left > 0;
  }

  /** The row as it is at this moment; the view must be up to date. */
  row(state: State, kept: KeptRow, nowMs: number): Row {
    const timed = this.#timed(state, kept, nowMs);
    if (!timed) throw new Error(`row ${kept.id} has no source any more, and was not made anew`);
    return timed.row;
  }

  kept(id: string): KeptRow | undefined {
    return this.#byId.get(id);
  }

  keptOf(key: SourceKey): KeptRow | undefined {
    return this.#bySource.get(key);
  }

  all(): IterableIterator<KeptRow> {
    return this.#byId.values();
  }

  /** How many were looked at. */
  #placeTouched(state: State, most: number): number {
    let placed = 0;
    for (const key of this.#touched) {
      if (placed >= most) break;
      placed += 1;
      this.#touched.delete(key);
      this.#place(state, key);
    }
    return placed;
  }

  /** Puts a source into the row that it belongs to now, and out of the one that it was in. */
  #place(state: State, key: SourceKey): void {
    const report = reportOf(state, key, this.#options.sight);
    this.#options.onSource?.(key, report, state);
    const id = report && rowIdOfSource(state, key, report);
    const before = this.#bySource.get(key);
    if (before) this.#unmade.add(before);
    if (before?.id === id) return;
    if (before) {
      before.sources.splice(before.sources.indexOf(key), 1);
      this.#bySource.delete(key);
    }
    if (id === undefined) return;
    const row = this.#byId.get(id) ?? newRow(id);
    this.#byId.set(id, row);
    this.#bySource.set(key, row);
    row.sources.push(key);
    this.#unmade.add(row);
  }

  /** How many were made. */
  #makeAll(rows: Set<KeptRow>, state: State, { moment, most }: Making): number {
    let made = 0;
    for (const row of rows) {
      if (made >= most) break;
      made += 1;
      this.#unmade.delete(row);
      this.#aged.delete(row);
      this.#make(state, row, moment);
    }
    return made;
  }

  #letTimePass(state: State, nowMs: number): void {
    for (let due = this.#deadlines.takeDue(nowMs); due; due = this.#deadlines.takeDue(nowMs)) {
      this.#aged.add(due.value);
    }
    for (const row of this.#running) this.#aged.add(row);
    for (const row of this.#stuck) {
      if (heardAtMs(state, row) > (row.stuckSinceMs ?? Infinity)) this.#aged.add(row);
    }
  }

  #make(state: State, kept: KeptRow, { nowMs, sequence }: ViewMoment): void {
    const timed = this.#timed(state, kept, nowMs);
    if (kept.place >= 0) this.indexes.delete(kept);
    kept.sequence = sequence;
    this.#options.onMade?.(kept, timed?.row);
    if (!timed) {
      this.#forget(kept);
      return;
    }
    const { row, untilMs } = timed;
    kept.place = placeOf(row, nowMs);
    kept.headline = row.headline;
    kept.isCounted = !isLongSilent(row, nowMs);
    kept.workspace = row.workspace;
    kept.hosts = hostsOf(row.aliases);
    kept.name = row.name;
    kept.stuckSinceMs = row.stuckSinceMs;
    this.indexes.add(kept);
    this.#setTimer(kept, untilMs);
    set(this.#stuck, kept, row.stuckSinceMs !== null);
    set(this.#running, kept, hasUnfinished(state, kept));
  }

  #forget(kept: KeptRow): void {
    this.#setTimer(kept, Infinity);
    this.#stuck.delete(kept);
    this.#running.delete(kept);
    this.#byId.delete(kept.id);
  }

  #setTimer(kept: KeptRow, atMs: number): void {
    if (atMs === Infinity) {
      if (kept.timer) this.#deadlines.remove(kept.timer);
    } else if (kept.timer) this.#deadlines.move(kept.timer, atMs);
    else kept.timer = this.#deadlines.add(atMs, kept);
  }

  /** Nothing for one that no source tells of any more. */
  #timed(state: State, { id, sources }: KeptRow, nowMs: number): TimedRow | undefined {
    const { sight, patience } = this.#options;
    const reports: Report[] = [];
    for (const key of sources) {
      const report = reportOf(state, key, sight);
      if (report) reports.push(report);
    }
    if (reports.length === 0) return undefined;
    const facts = { id, sources: reports, jobs: jobsOfRow(state, id, sight) };
    return timedRow(facts, { nowMs, patience });
  }
}

interface Making {
  readonly moment: ViewMoment;
  readonly most: number;
}

function newRow(id: string): KeptRow {
  return {
    id,
    sources: [],
    place: -1,
    headline: "IDLE",
    isCounted: false,
    workspace: null,
    hosts: [],
    name: id,
    stuckSinceMs: null,
    sequence: 0,
    digest: 0,
    timer: undefined,
  };
}

/** Whether it shows jobs that have not ended: its own, or those of a source that it claims. */
function hasUnfinished({ jobs }: State, { id, sources }: KeptRow): boolean {
  const isBusy = (rowId: string) => (jobs.byAgent.get(rowId)?.unfinished.size ?? 0) > 0;
  return isBusy(id) || sources.some((key) => key.startsWith("jobs ") && isBusy(nameOf(key)));
}

/** When a heartbeat of its agents in the registry last came. */
function heardAtMs({ agents }: State, { sources }: KeptRow): number {
  let lastMs = 0;
  for (const key of sources) {
    if (!key.startsWith("agent ")) continue;
    lastMs = Math.max(lastMs, agents.byId.get(nameOf(key))?.seenAtMs ?? 0);
  }
  return lastMs;
}

function set<T>(all: Set<T>, item: T, isIn: boolean): void {
  if (isIn) all.add(item);
  else all.delete(item);
}
