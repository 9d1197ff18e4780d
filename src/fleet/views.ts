/**
 * All views of the fleet: that of everything, and those of the owners that look. The engine tells
 * of each event before it happens; the sources that it touches (touches.ts) are noted with the view
 * of everything and that of their owner, and made into rows when somebody looks.
 *
 * Where so much waits that a look would stop everybody else, after a start or in a burst, it is
 * done before, a few milliseconds at a time.
 */
import { agentRowId } from "../core/agent-jobs.ts";
import type { Clock } from "../core/clock.ts";
import type { Event } from "../core/events.ts";
import type { Job } from "../core/jobs.ts";
import { LOCAL } from "../core/principals.ts";
import type { State } from "../core/state.ts";
import { EVERYTHING, type Sight } from "../core/visibility.ts";
import type { Engine } from "../engine/engine.ts";
import type { Observer } from "../engine/observer.ts";
import { FleetChanges, type FleetLook } from "./changes.ts";
import { QuestionRevision } from "./kept-questions.ts";
import { SourceIndex } from "./source-index.ts";
import { jobKeys, jobKeysOf, sourceKeys, type JobKey, type SourceKey } from "./sources.ts";
import type { Patience } from "./stuck.ts";
import { touch, type TouchListener, type TouchedJob } from "./touches.ts";
import { FleetView } from "./view.ts";

export interface ObservedEngine extends Pick<Engine, "peek" | "read" | "nowMs"> {
  readonly observers: Pick<Engine["observers"], "add">;
}

export interface FleetViewsOptions {
  readonly engine: ObservedEngine;
  readonly clock: Clock;
  readonly patience: Patience;
}

/** Sources and rows in one go: about a millisecond. */
const AT_ONCE = 100;
/** So many changes of an owner's rows are noted while it does not look; then they are forgotten. */
const NOTED = 10_000;
/** Owners whose rows are kept; one that comes back after so many others waits for its rows. */
const OWNERS = 100;

/** The rows that a sight shows, and those who look on. */
interface OwnerView {
  readonly sight: Sight;
  readonly changes: FleetChanges;
  view: FleetView;
}

export class FleetViews implements Observer, TouchListener {
  readonly #options: FleetViewsOptions;
  readonly #everything: OwnerView;
  readonly #byOwner = new Map<string, OwnerView>();
  #sources = new SourceIndex();
  readonly questions = new QuestionRevision();
  readonly #stopObserving: () => void;
  /** Of the last event that the state has, durable or not. */
  #sequence = 0;
  /** Jobs that said or spent something since somebody looked. */
  readonly #felt = new Set<Job>();
  #isCatchingUp = false;
  #isClosed = false;

  constructor(options: FleetViewsOptions) {
    this.#options = options;
    this.#everything = this.#new(EVERYTHING);
    this.#stopObserving = options.engine.observers.add(this);
  }

  /** Looks at the rows as they are now; what is seen is durable when it resolves. */
  async look<T>(sight: Sight, select: (look: FleetLook) => T): Promise<T> {
    const { engine } = this.#options;
    await this.#settle(this.#everything);
    const kept = this.#keptFor(sight);
    await this.#settle(kept);
    return engine.read((state, sequence) => {
      const { nowMs: atMs } = engine;
      const moment = { nowMs: atMs, sequence };
      this.#takeFelt();
      this.#everything.view.update(state, moment);
      kept.view.update(state, moment);
      const { view } = kept;
      return select({ view, sequence, atMs, row: (each) => view.row(state, each, atMs) });
    });
  }

  /** The rows of everybody here and now; as of a moment ago where many wait to be made. */
  peek<T>(select: (view: FleetView, state: State) => T): T {
    return this.#options.engine.peek((state) => {
      this.#update(this.#everything, state);
      return select(this.#everything.view, state);
    });
  }

  changes(sight: Sight): FleetChanges {
    return this.#keptFor(sight).changes;
  }

  close(): void {
    this.#isClosed = true;
    this.#stopObserving();
    for (const { changes } of this.#all()) changes.close();
  }

  before(event: Event, state: State): void {
    this.questions.note(event);
    this.#sequence += 1;
    touch(event, state, this);
  }

  /** All rows are made anew; those of owners when they look again. */
  replaced(state: State, sequence: number): void {
    this.questions.states += 1;
    this.#sequence = sequence;
    this.#sources = new SourceIndex();
    this.#everything.view = this.#newView(this.#everything);
    this.#everything.view.read(allKeys(state));
    for (const kept of this.#byOwner.values()) kept.view = this.#newView(kept);
    for (const { changes } of this.#all()) changes.begin();
    this.#catchUp();
  }

  source(key: SourceKey, owner: string = LOCAL.name): void {
    this.#touch(this.#everything, key);
    const own = this.#byOwner.get(owner);
    if (own) this.#touch(own, key);
    this.#considerCatchingUp();
  }

  jobs(rowId: string): void {
    for (const kept of this.#all()) this.#touchJobs(kept, rowId);
  }

  job(job: TouchedJob): void {
    const rowId = agentRowId(job);
    for (const kept of this.#all()) {
      const { owner = job.principal } = kept.sight;
      if (owner === job.principal) kept.view.touchJob(job.id);
      // Of an agent's jobs that ended the last are known: each that ends takes the place of one.
      else if (!kept.view.keptOf(`jobs ${rowId}`)) continue;
      this.#touchJobs(kept, rowId);
    }
    this.#considerCatchingUp();
  }

  heard(agentId: string): void {
    this.#everything.view.heard(agentId);
    for (const { view } of this.#byOwner.values()) view.heard(agentId);
  }

  felt(job: Job): void {
    this.#felt.add(job);
    if (this.#felt.size > AT_ONCE) this.#catchUp();
  }

  entriesFrom(cardUrl: string): Iterable<string> {
    return this.#sources.entriesFrom(cardUrl);
  }

  joining(rowId: string): Iterable<SourceKey> {
    return this.#sources.joining(rowId) as Iterable<SourceKey>;
  }

  #touch(kept: OwnerView, key: SourceKey): void {
    const { view, changes, sight } = kept;
    view.touch(key);
    changes.touched();
    if (sight.owner === undefined || changes.isFollowed || view.waiting < NOTED) return;
    if (view.waiting < Infinity) this.#byOwner.delete(sight.owner);
  }

  #touchJobs(kept: OwnerView, rowId: string): void {
    this.#touch(kept, `jobs ${rowId}`);
    kept.view.touchRow(rowId);
  }

  /** Jobs say much between two looks: each counts once. */
  #takeFelt(): void {
    for (const job of this.#felt) {
      const rowId = agentRowId(job);
      this.#everything.view.felt(job.id, rowId);
      this.#byOwner.get(job.principal)?.view.felt(job.id, rowId);
    }
    this.#felt.clear();
  }

  *#all(): Generator<OwnerView> {
    yield this.#everything;
    yield* this.#byOwner.values();
  }

  #keptFor(sight: Sight): OwnerView {
    const { owner } = sight;
    if (owner === undefined) return this.#everything;
    const known = this.#byOwner.get(owner);
    if (known) return known;
    for (const [each, { changes }] of this.#byOwner) {
      if (this.#byOwner.size < OWNERS) break;
      if (!changes.isFollowed) this.#byOwner.delete(each);
    }
    const made = this.#new(sight);
    this.#byOwner.set(owner, made);
    return made;
  }

  #new(sight: Sight): OwnerView {
    const { clock } = this.#options;
    const changes = new FleetChanges({ clock, look: (select) => this.look(sight, select) });
    const view = this.#newView({ sight, changes });
    return { sight, changes, view };
  }

  #newView({ sight, changes }: Pick<OwnerView, "sight" | "changes">): FleetView {
    const view = new FleetView({
      sight,
      patience: this.#options.patience,
      onMade: (kept, row) => changes.made(kept, row),
      onSource: sight === EVERYTHING ? (...source) => this.#sources.file(...source) : undefined,
    });
    if (sight.owner !== undefined) view.read(this.#sourcesOf(sight.owner));
    return view;
  }

  /** Asked for when they are first read: by then all sources were filed. */
  *#sourcesOf(owner: string): Generator<SourceKey | JobKey> {
    const state = this.#options.engine.peek((each) => each);
    yield* jobKeysOf(state, owner);
    if (owner === LOCAL.name) yield* sourceKeys(state);
    yield* this.#sources.ofOwner(owner) as Iterable<SourceKey>;
  }

  /** So that what is left can be done in one go. */
  async #settle(kept: OwnerView): Promise<void> {
    while (!this.#options.engine.peek((state) => this.#update(kept, state)) && !this.#isClosed) {
      await new Promise<void>((resolve) => this.#options.clock.soon(resolve));
    }
  }

  /** Whether nothing is left to do. */
  #update({ view }: OwnerView, state: State): boolean {
    const { nowMs } = this.#options.engine;
    this.#takeFelt();
    return view.update(state, { nowMs, sequence: this.#sequence }, AT_ONCE);
  }

  #considerCatchingUp(): void {
    if (this.#everything.view.waiting > AT_ONCE) this.#catchUp();
  }

  /** Later: an event that is about to happen has not changed the state yet. */
  #catchUp(): void {
    if (this.#isCatchingUp) return;
    this.#isCatchingUp = true;
    this.#options.clock.soon(() => {
      void this.#settle(this.#everything).finally(() => (this.#isCatchingUp = false));
    });
  }
}

/** Jobs first: sources are made of them. */
function* allKeys(state: State): Generator<SourceKey | JobKey> {
  yield* jobKeys(state);
  yield* sourceKeys(state);
}
