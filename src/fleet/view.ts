/**
 * Rows, kept. A row is a pure function of its facts and of time (row.ts), so it need be made only
 * when one of its facts changes, or when the moment comes that it names itself:
 *
 *   event ──▶ sources touched ──▶ rows to be made ──▶ made, and put where they belong (indexes.ts)
 *   time  ──▶ deadline passed ─────────▲
 *
 * Events only leave a mark. Rows are made when somebody looks, or a few at a time once many wait,
 * so that many changes of one row cost one row. Two things change without an event: the heartbeat
 * that an agent sends after a long silence, and what running jobs say and spend. The view is told
 * of them as of events (engine/observer.ts), and the rows that they change have aged.
 *
 * There is one view for those who see everything, and one for each owner that looks, which holds
 * the rows of that owner alone.
 */
import { Heap, type Slot } from "../core/heap.ts";
import type { Report } from "../core/reports.ts";
import type { State } from "../core/state.ts";
import type { Sight } from "../core/visibility.ts";
import type { Source } from "./axes.ts";
import { hostsOfAliases } from "./filters.ts";
import { isLongSilent, rowPlaceOf, type Headline } from "./headline.ts";
import { RowIndexes, type IndexedRow } from "./indexes.ts";
import { jobsOfRow, type JobsView } from "./job-agents.ts";
import { MadeOrder, type OrderLinks } from "./made-order.ts";
import { timedRow, type Row, type TimedRow } from "./row.ts";
import { NameIndex } from "./name-index.ts";
import {
  isJobKey,
  sourceName,
  sourceReport,
  rowIdOfSource,
  type JobKey,
  type SourceKey,
} from "./sources.ts";
import type { Patience } from "./stuck.ts";
import { KeptJobs } from "./unfinished-jobs.ts";

/** The kept part of a row: enough to find it, and to make it when it is shown. */
export interface KeptRow extends IndexedRow, OrderLinks<KeptRow> {
  readonly sources: SourceKey[];
  /** Negative until it was made. */
  place: number;
  headline: Headline;
  isCounted: boolean;
  workspace: string | null;
  hosts: readonly string[];
  name: string;
  isStuck: boolean;
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
  /** Agents of the registry whose row is stuck: the next heartbeat may make it another. */
  readonly #stuck = new Set<string>();
  readonly #jobs: KeptJobs;
  readonly #seen: JobsView;
  /** Work that is left: sources that are new or were touched, and rows. */
  #unread: Iterator<SourceKey | JobKey> | undefined;
  readonly #touched = new Set<SourceKey>();
  readonly #touchedJobs = new Set<string>();
  readonly #unmade = new Set<KeptRow>();
  readonly #aged = new Set<KeptRow>();
  readonly indexes = new RowIndexes<KeptRow>();
  /** Rows by their names, where these are not their ids. */
  readonly names = new NameIndex<KeptRow>();
  /** The last made first. */
  readonly made = new MadeOrder<KeptRow>();
  #sequence = 0;

  constructor(options: FleetViewOptions) {
    const { sight } = options;
    this.#options = options;
    this.#jobs = new KeptJobs(sight);
    this.#seen = { sight, unfinished: (rowId) => this.#jobs.of(rowId) };
  }

  get size(): number {
    return this.#byId.size;
  }

  /** How many sources and rows wait to be looked at. */
  get waiting(): number {
    const rows = this.#unmade.size + this.#aged.size;
    return this.#touched.size + this.#touchedJobs.size + rows + (this.#unread ? Infinity : 0);
  }

  /** These are all the sources that there are; touched ones come on top. */
  read(sources: Iterable<SourceKey | JobKey>): void {
    this.#unread = sources[Symbol.iterator]();
  }

  touch(key: SourceKey): void {
    this.#touched.add(key);
  }

  touchJob(jobId: string): void {
    this.#touchedJobs.add(jobId);
  }

  touchRow(id: string): void {
    const row = this.#byId.get(id);
    if (row) this.#unmade.add(row);
  }

  /** Soft: a heartbeat of an agent was taken. */
  heard(agentId: string): void {
    if (this.#stuck.has(agentId)) this.#age(this.#bySource.get(`agent ${agentId}`));
  }

  /** Soft: a job of this agent said or spent something. */
  felt(jobId: string, rowId: string): void {
    this.#touchedJobs.add(jobId);
    this.#age(this.#bySource.get(`jobs ${rowId}`));
    this.#age(this.#byId.get(rowId));
  }

  /** Makes what is to be made, up to so many sources and rows; whether that was all. */
  update(state: State, moment: ViewMoment, most = Infinity): boolean {
    let left = most - this.#placeTouched(state, most);
    for (; this.#unread && left > 0; left -= 1) {
      const next = this.#unread.next();
      if (next.done) this.#unread = undefined;
      else if (isJobKey(next.value)) this.#jobs.place(state, sourceName(next.value));
      else this.#place(state, next.value);
    }
    left -= this.#letTimePass(moment.nowMs, left);
    left -= this.#makeAll(this.#unmade, state, { moment, most: left });
    const aged = { ...moment, sequence: moment.sequence + 0.5 };
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

  /** How many were looked at: jobs first, since sources are made of them. */
  #placeTouched(state: State, most: number): number {
    let placed = 0;
    for (const jobId of this.#touchedJobs) {
      if (placed >= most) break;
      placed += 1;
      this.#touchedJobs.delete(jobId);
      this.#jobs.place(state, jobId);
    }
    for (const key of this.#touched) {
      if (placed >= most) break;
      placed += 1;
      this.#touched.delete(key);
      this.#place(state, key);
    }
    return placed;
  }

  #age(row: KeptRow | undefined): void {
    if (row) this.#aged.add(row);
  }

  /** Puts a source into the row that it belongs to now, and out of the one that it was in. */
  #place(state: State, key: SourceKey): void {
    const report = sourceReport(state, key, this.#seen);
    this.#options.onSource?.(key, report, state);
    const id = report && rowIdOfSource(state, key, report);
    const before = this.#bySource.get(key);
    if (before) this.#unmade.add(before);
    if (before?.id === id) return;
    if (before) {
      before.sources.splice(before.sources.indexOf(key), 1);
      this.#bySource.delete(key);
      // Both rows are made anew, and the one that it goes to may be stuck, too.
      if (before.isStuck) this.#stuck.delete(sourceName(key));
    }
    if (id === undefined) return;
    const row = this.#byId.get(id) ?? newRow(id);
    this.#byId.set(id, row);
    this.#bySource.set(key, row);
    row.sources.push(key);
    this.#unmade.add(row);
  }

  /** How many were made. */
  #makeAll(rows: Set<KeptRow>, state: State, { moment, most }: MakeOptions): number {
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

  /** How many were found to be due. */
  #letTimePass(nowMs: number, most: number): number {
    let found = 0;
    for (; found < most; found += 1) {
      const due = this.#deadlines.takeDue(nowMs);
      if (!due) break;
      this.#aged.add(due.value);
    }
    return found;
  }

  #make(state: State, kept: KeptRow, { nowMs, sequence }: ViewMoment): void {
    const timed = this.#timed(state, kept, nowMs);
    if (kept.place >= 0) this.indexes.delete(kept);
    // Never less than that of a row made before: the order in which rows are made is theirs.
    this.#sequence = Math.max(this.#sequence, sequence);
    kept.sequence = this.#sequence;
    this.#options.onMade?.(kept, timed?.row);
    if (!timed) {
      this.#forget(kept);
      return;
    }
    const { row, untilMs } = timed;
    kept.place = rowPlaceOf(row, nowMs);
    kept.headline = row.headline;
    kept.isCounted = !isLongSilent(row, nowMs);
    kept.workspace = row.workspace;
    kept.hosts = hostsOfAliases(row.aliases);
    this.#setName(kept, row.name);
    this.indexes.add(kept);
    this.made.add(kept);
    this.#setTimer(kept, untilMs);
    this.#setStuck(kept, row.stuckSinceMs !== null);
  }

  #forget(kept: KeptRow): void {
    this.#setTimer(kept, Infinity);
    this.#setStuck(kept, false);
    this.#setName(kept, kept.id);
    this.made.delete(kept);
    this.#byId.delete(kept.id);
  }

  #setName(kept: KeptRow, name: string): void {
    if (kept.name === name) return;
    if (kept.name !== kept.id) this.names.delete(kept.name, kept);
    if (name !== kept.id) this.names.add(name, kept);
    kept.name = name;
  }

  #setStuck(kept: KeptRow, isStuck: boolean): void {
    if (!isStuck && !kept.isStuck) return;
    kept.isStuck = isStuck;
    for (const key of kept.sources) {
      if (key.startsWith("agent ")) set(this.#stuck, sourceName(key), isStuck);
    }
  }

  #setTimer(kept: KeptRow, atMs: number): void {
    if (atMs === Infinity) {
      if (kept.timer) this.#deadlines.remove(kept.timer);
    } else if (kept.timer) this.#deadlines.move(kept.timer, atMs);
    else kept.timer = this.#deadlines.add(atMs, kept);
  }

  /** Nothing for one that no source tells of any more. */
  #timed(state: State, { id, sources }: KeptRow, nowMs: number): TimedRow | undefined {
    const { patience } = this.#options;
    const reports: Source[] = [];
    for (const key of sources) {
      const report = sourceReport(state, key, this.#seen);
      if (report) reports.push(report);
    }
    if (reports.length === 0) return undefined;
    const facts = { id, sources: reports, jobs: jobsOfRow(state, id, this.#seen) };
    return timedRow(facts, { nowMs, patience });
  }
}

interface MakeOptions {
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
    isStuck: false,
    sequence: 0,
    digest: 0,
    timer: undefined,
    older: undefined,
    newer: undefined,
  };
}

function set<T>(all: Set<T>, item: T, isIn: boolean): void {
  if (isIn) all.add(item);
  else all.delete(item);
}
