/**
 * The fleet as it changes. Rows also change by themselves (an hour of nothing is a problem), and
 * one event may change several, so rows are made anew and compared: soon after something happened,
 * and now and then without. It is done once for all subscribers; without any, not at all.
 *
 *   nobody ──first comes──▶ looking ──last goes──▶ nobody
 *
 * A large fleet takes longer to make: the pause after it grows with that, so that looking never
 * takes more than a small part of the time.
 */
import type { Clock } from "../core/clock.ts";
import type { Watch } from "../engine/watch.ts";
import type { FleetNow } from "./fleet.ts";
import type { Row } from "./row.ts";

export interface FleetChange {
  readonly sequence: number;
  readonly atMs: number;
  /** New ones and changed ones; at first all. */
  readonly rows: readonly Row[];
  /** The ids of those that are no more. Both may be empty: see TICK_MS. */
  readonly gone: readonly string[];
}

/** That something happened is enough. */
type OpenWatch = Pick<Watch, "pull" | "close">;

export interface FleetViewOptions {
  readonly engine: { readonly head: number; watch(): OpenWatch };
  readonly clock: Clock;
  readonly rows: () => Promise<FleetNow>;
}

/** People see no difference below this. */
const SOON_MS = 100;
/** Changes by time alone take minutes. */
const SELDOM_MS = 5_000;
/** A change is sent at least this often: for a subscriber that hides old rows. */
const TICK_MS = 60_000;
/** Of the time that making the rows takes. */
const PAUSES = 9;

interface Looker {
  /** Each row as it was last sent to it. */
  readonly told: Map<string, string>;
  wake: () => void;
}

export class FleetView {
  readonly #options: FleetViewOptions;
  readonly #lookers = new Set<Looker>();
  #now: FleetNow | undefined;
  #texts = new Map<string, string>();
  #watch: OpenWatch | undefined;
  #stopTimer: (() => void) | undefined;
  /** When rows are made next: seldom; soon, because something happened; or right now. */
  #next: "seldom" | "soon" | "making" = "seldom";
  #pauseMs = SOON_MS;
  #isClosed = false;

  constructor(options: FleetViewOptions) {
    this.#options = options;
  }

  async *changes(signal?: AbortSignal): AsyncGenerator<FleetChange, void, undefined> {
    const looker: Looker = { told: new Map(), wake: () => undefined };
    const onAbort = () => looker.wake();
    signal?.addEventListener("abort", onAbort);
    this.#lookers.add(looker);
    if (this.#lookers.size === 1) this.#begin();
    try {
      let toldAtMs = -Infinity;
      while (!this.#isClosed && !signal?.aborted) {
        const change = this.#changeFor(looker);
        const isDue = change && change.atMs - toldAtMs >= TICK_MS;
        if (change && (isDue || change.rows.length > 0 || change.gone.length > 0)) {
          toldAtMs = change.atMs;
          yield change;
        } else {
          await new Promise<void>((woken) => (looker.wake = woken));
        }
      }
    } finally {
      signal?.removeEventListener("abort", onAbort);
      this.#lookers.delete(looker);
      if (this.#lookers.size === 0) this.#end();
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#end();
    this.#wakeAll();
  }

  #changeFor({ told }: Looker): FleetChange | undefined {
    if (!this.#now) return undefined;
    const { sequence, atMs } = this.#now;
    const rows = this.#now.rows.filter(({ id }) => told.get(id) !== this.#texts.get(id));
    const gone = [...told.keys()].filter((id) => !this.#texts.has(id));
    for (const { id } of rows) told.set(id, this.#texts.get(id) ?? "");
    for (const id of gone) told.delete(id);
    return { sequence, atMs, rows, gone };
  }

  #begin(): void {
    this.#now = undefined;
    this.#listen();
    if (this.#next !== "making") void this.#make();
  }

  #end(): void {
    this.#watch?.close();
    this.#watch = undefined;
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #listen(): void {
    if (this.#watch || this.#lookers.size === 0 || this.#isClosed) return;
    this.#watch = this.#options.engine.watch();
    void this.#hear(this.#watch);
  }

  async #hear(watch: OpenWatch): Promise<void> {
    try {
      while ((await watch.pull()).length > 0) this.#changed();
    } catch {
      // It was cut, because too much happened: that is looked at, and then listened again.
    }
    if (this.#watch !== watch) return;
    this.#watch = undefined;
    this.#changed();
  }

  #changed(): void {
    if (this.#next !== "seldom") return;
    this.#stopTimer?.();
    this.#schedule("soon", this.#pauseMs);
  }

  #schedule(next: "soon" | "seldom", delayMs: number): void {
    this.#next = next;
    if (this.#lookers.size === 0 || this.#isClosed) return;
    this.#stopTimer = this.#options.clock.after(delayMs, () => void this.#make());
  }

  async #make(): Promise<void> {
    this.#next = "making";
    const startedMs = this.#options.clock.monotonicMs();
    const { head } = this.#options.engine;
    try {
      this.#listen();
      this.#now = await this.#options.rows();
      this.#texts = new Map(this.#now.rows.map((row) => [row.id, textOf(row)]));
      this.#wakeAll();
    } catch {
      // There is no leader just now: the last rows stand until there is one.
    }
    this.#pauseMs = Math.max(SOON_MS, PAUSES * (this.#options.clock.monotonicMs() - startedMs));
    const isBehind = this.#options.engine.head !== head;
    if (isBehind) this.#schedule("soon", this.#pauseMs);
    else this.#schedule("seldom", SELDOM_MS);
  }

  #wakeAll(): void {
    for (const looker of this.#lookers) looker.wake();
  }
}

/** The row without its soft fields: one more heartbeat is no news. */
function textOf(row: Row): string {
  return JSON.stringify(row).replaceAll(SOFT, "");
}

/** A quote inside of a text has a backslash before it, so that no text can look like this. */
const SOFT = /"(?:reportedAtMs|order)":\d+/g;
