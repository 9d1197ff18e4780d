/**
 * The fleet: who is here, what is each doing, which one needs me. Reports go in through the engine,
 * so they are durable, ordered and the same on every node; rows are made when somebody looks.
 */
import { RollcallError } from "../core/errors.ts";
import type { Recorded } from "../core/events.ts";
import type { Question, QuestionState } from "../core/questions.ts";
import type { Report } from "../core/reports.ts";
import type { Clock } from "../engine/clock.ts";
import type { Engine } from "../engine/engine.ts";
import { FleetView, type FleetChange } from "./view.ts";
import type { Row, RowOptions } from "./row.ts";
import { rowNamed, rowsOf } from "./rows.ts";
import { DEFAULT_PATIENCE, type Patience } from "./stuck.ts";

export interface FleetOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly patience?: Patience;
}

export interface FleetNow {
  readonly rows: readonly Row[];
  /** Of the last event they rest on. */
  readonly sequence: number;
  readonly atMs: number;
}

/** What a timeline shows at most: the last ones. */
const TIMELINE_MOST = 1_000;

export class Fleet {
  readonly #engine: Engine;
  readonly #patience: Patience;
  readonly #view: FleetView;

  constructor({ engine, clock, patience = {} }: FleetOptions) {
    this.#engine = engine;
    this.#patience = { ...DEFAULT_PATIENCE, ...patience };
    this.#view = new FleetView({ engine, clock, rows: () => this.rows() });
  }

  /** Resolves when it is durable, to whether it said anything new. */
  async report(report: Report): Promise<boolean> {
    const { isNew } = await this.#engine.execute({ type: "fleet.report", report });
    return isNew;
  }

  /** What every source said last, but for the registry, which knows its own. */
  reports(): Promise<readonly Report[]> {
    return this.#engine.read(({ reports }) =>
      Array.from(reports.byAlias.values(), ({ report }) => report),
    );
  }

  async rows(): Promise<FleetNow> {
    return this.#engine.read((state) => ({
      rows: rowsOf(state, this.#options()),
      sequence: this.#engine.head,
      atMs: this.#engine.nowMs,
    }));
  }

  async row(id: string): Promise<Row> {
    const row = await this.#engine.read((state) => rowNamed(state, id, this.#options()));
    if (!row) throw new RollcallError("NOT_FOUND", `no agent ${id} in the fleet`);
    return row;
  }

  /** As it was at a moment of the past. */
  async at(atMs: number): Promise<FleetNow> {
    const { state, sequence } = await this.#engine.past(atMs);
    return { rows: rowsOf(state, this.#options(atMs)), sequence, atMs };
  }

  /** The newest first. */
  async questions(wanted?: QuestionState): Promise<readonly Question[]> {
    return this.#engine.read(({ questions }) => {
      const all = Array.from(questions.byId.values(), ({ question }) => question);
      const found = wanted === undefined ? all : all.filter(({ state }) => state === wanted);
      return found.toSorted((a, b) => b.sinceMs - a.sinceMs);
    });
  }

  /** What happened to an agent, under all its names, as far as the log reaches back. */
  async timeline(id: string): Promise<readonly Recorded[]> {
    const { aliases } = await this.row(id);
    const names = new Set([id, ...aliases, ...aliases.map(nameOf)]);
    const events: Recorded[] = [];
    const mentions = (text: string) => {
      for (const name of names) if (text.includes(JSON.stringify(name))) return true;
      return false;
    };
    for await (const recorded of this.#engine.history(mentions)) {
      if (recorded.event.type === "lease.renewed") continue;
      events.push(recorded);
      if (events.length > 2 * TIMELINE_MOST) events.splice(0, TIMELINE_MOST);
    }
    return events.slice(-TIMELINE_MOST);
  }

  /** All rows, then those that change; until it is closed or the signal aborts. */
  changes(signal?: AbortSignal): AsyncGenerator<FleetChange, void, undefined> {
    return this.#view.changes(signal);
  }

  close(): void {
    this.#view.close();
  }

  #options(nowMs: number = this.#engine.nowMs): RowOptions {
    return { nowMs, patience: this.#patience };
  }
}

/** NAME of WIRE:NAME. */
function nameOf(alias: string): string {
  return alias.slice(alias.indexOf(":") + 1);
}
