/**
 * The engine: the one place that turns commands into events. Rules decide, the log makes durable,
 * and only then does anybody hear of it.
 *
 *            open                                    lead
 *   closed ────────▶ loading ──▶ following ────────────────────────▶ leading
 *                       ▲           │  ▲ waits for the leader          │
 *                       │           │  │ to fall silent                │
 *                       └───────────┴──┴───── append failed or fenced ─┘
 *
 * - loading:   the state is rebuilt from the log. Nothing is answered.
 * - following: applies what another node writes (or, alone with a store that fails, tries again to
 *              write). Reads are answered from here, commands by the leader.
 * - leading:   decides. One append at a time; replies when it is durable.
 *
 * Every failure takes the same way as a start: what is not in the log is forgotten, and the state
 * is rebuilt. There is no other recovery code.
 */
import { beatBy } from "../core/acting.ts";
import type { By } from "../core/by.ts";
import type { Beat } from "../core/directory.ts";
import { codeOf, RollcallError } from "../core/errors.ts";
import { encode, type RecordedEvent } from "../core/events.ts";
import { ENGINE } from "../core/limits.ts";
import { leading } from "../core/nodes.ts";
import type { Command, ReplyTo, Rules } from "../core/rules.ts";
import type { State } from "../core/state.ts";
import type { Log, LogRange } from "../log/log.ts";
import { EngineTime, markOf, type Clock, type Mark } from "../core/clock.ts";
import { closing } from "./closing.ts";
import { Follower } from "./follower.ts";
import type { Forwarder, ForwardTarget } from "./forward.ts";
import { Latch } from "./latch.ts";
import { Leading } from "./leading.ts";
import { DEFAULTS, type EngineOptions } from "./options.ts";
import { Observers } from "./observer.ts";
import { history, stateAt, type Past } from "./past.ts";
import { apply, load, selected, type Replica } from "./replica.ts";
import { DEFAULT_RETENTION, Snapshots } from "./snapshots.ts";
import { countBatch, emptyStats, type EngineStats } from "./stats.ts";
import { Trouble } from "./trouble.ts";
import { Turn } from "./turn.ts";
import { WatchHub, type Watch, type WatchOptions } from "./watch.ts";

export type EngineMode = "loading" | "following" | "leading" | "closed";

export class Engine implements ForwardTarget {
  readonly #options: EngineOptions & typeof DEFAULTS;
  readonly #log: Log;
  readonly #rules: Rules;
  readonly #clock: Clock;
  readonly #time: EngineTime;
  readonly #hub: WatchHub;
  readonly #snapshots: Snapshots;
  readonly stats: EngineStats = emptyStats();
  readonly observers = new Observers();

  #replica: Replica;
  #mode: EngineMode = "loading";
  #leading: Leading | undefined;
  #follower: Follower | undefined;
  readonly #turn: Turn;
  /** Open but while the state is being rebuilt. */
  readonly #loaded: Latch;
  #running: Promise<void> = Promise.resolve();
  #mustReload = false;
  readonly #trouble: Trouble;

  /** Resolves when it can answer; rejects when the log cannot be opened or read. */
  static async open(given: EngineOptions): Promise<Engine> {
    const options = { ...DEFAULTS, ...given };
    const engine = new Engine(options, await load(options.log, options.rules));
    await engine.#snapshots.start(engine.#time.nowMs());
    engine.#follow();
    if (!options.log.shared) await engine.#tryToLead();
    engine.#running = engine.#run();
    return engine;
  }

  private constructor(options: EngineOptions & typeof DEFAULTS, replica: Replica) {
    this.#options = options;
    this.#log = options.log;
    this.#rules = options.rules;
    this.#clock = options.clock;
    this.#time = new EngineTime(this.#clock);
    this.#turn = new Turn(this.#clock, options.random);
    this.#loaded = new Latch(this.#clock);
    this.#hub = new WatchHub({ log: options.log, barrier: () => this.#barrier() });
    this.#snapshots = new Snapshots(options.log, { ...DEFAULT_RETENTION, ...options.retention });
    this.#replica = replica;
    this.#trouble = new Trouble((what, error) => {
      if (!this.#isClosed()) options.onTrouble?.(what, error);
    });
  }

  get mode(): EngineMode {
    return this.#mode;
  }

  get node(): string {
    return this.#options.node;
  }

  /** The sequence of the last durable event this node knows of. */
  get head(): number {
    return this.#hub.head;
  }

  get watches(): { readonly open: number; readonly cut: number } {
    return { open: this.#hub.size, cut: this.#hub.cuts };
  }

  get snapshotCount(): number {
    return this.#snapshots.count;
  }

  /** Has a caller's command decided; resolves when it is durable, rejects with the refusal. */
  execute<C extends Command>(command: C, by: By): Promise<ReplyTo<C>> {
    return this.#leading ? this.#leading.execute(command, by) : this.#forward(command, by);
  }

  /** A heartbeat. Most cost a lookup and leave no trace. */
  heartbeat(agentId: string, by: By): Promise<null> {
    this.stats.heartbeats += 1;
    if (this.#leading?.heartbeat(agentId, by)) return DONE;
    // Alone with a store that cannot be written to: no agent dies either, a known one may go on.
    const isStranded = this.#mode === "following" && !this.#log.shared;
    if (isStranded && beatBy(this.#replica.state, { agentId, by }, this.#time.nowMs())) {
      this.observers.heard(agentId);
      return DONE;
    }
    return this.execute({ type: "agent.heartbeat", agentId }, by);
  }

  /** A heartbeat of an entry of the directory that says nothing new; false when it takes more. */
  refresh(entry: Beat): boolean {
    return this.#leading?.refresh(entry) ?? false;
  }

  /**
   * Reads the latest state: everything acknowledged anywhere before this call is in it, and all of
   * it, up to `sequence`, is durable when this resolves. What is selected must not be changed.
   */
  async read<T>(select: (state: State, sequence: number) => T): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      while (this.#mode === "loading") {
        if (!(await this.#loaded.opened(ENGINE.catchUpMs))) throw this.#unavailable();
      }
      try {
        if (this.#isClosed()) throw closing();
        if (this.#leading) return await this.#leading.current(selected(this.#replica, select));
        // The only writer, and it cannot write: what it has is all there is.
        if (!this.#log.shared) return selected(this.#replica, select);
        await this.#catchUp();
        if (this.#mode === "following") return selected(this.#replica, select);
      } catch (error) {
        if (codeOf(error) !== "UNAVAILABLE" || tries === ENGINE.readTries || this.#isClosed())
          throw error;
      }
    }
  }

  /** Looks at the state as it is here and now, durable or not: for gauges and the like. */
  peek<T>(select: (state: State) => T): T {
    return select(this.#replica.state);
  }

  watch(options: WatchOptions = {}): Watch {
    if (this.#isClosed()) throw closing();
    return this.#hub.watch(options);
  }

  /** The state as it was at a moment; rejects with OUT_OF_RANGE where the log does not reach. */
  past(atMs: number): Promise<Past> {
    return stateAt(this.#log, this.#rules, atMs);
  }

  /** The events as far as the log reaches back; `isWanted` sees each as the log keeps it. */
  history(isWanted: (text: string) => boolean): AsyncGenerator<RecordedEvent> {
    return history(this.#log, isWanted);
  }

  /** Now, as events tell it. */
  get nowMs(): number {
    return this.#time.nowMs();
  }

  executeHere<C extends Command>(command: C, by: By): Promise<ReplyTo<C>> {
    return this.#leading?.execute(command, by) ?? Promise.reject(this.#unavailable());
  }

  async barrierHere(): Promise<number> {
    if (!this.#leading) throw this.#unavailable();
    return this.#leading.current(this.#replica.head);
  }

  /** Lets what is under way finish, then ends all watches. The log is its owner's to close. */
  async close(): Promise<void> {
    if (this.#isClosed()) return;
    const term = this.#leading;
    this.#leading = undefined;
    this.#setMode("closed");
    await term?.drain();
    this.#hub.close();
    await this.#follower?.stop();
    this.#turn.hurry();
    await this.#running;
  }

  /** Leads while it can, follows while it cannot, until it is closed. */
  async #run(): Promise<void> {
    while (!this.#isClosed()) {
      if (this.#leading) {
        const reason = await this.#leading.ended;
        this.#leading = undefined;
        if (this.#isClosed()) return;
        this.stats.rebuilds += 1;
        this.#trouble.report("stopped leading", reason);
        await this.#reload();
      } else if (this.#isBehind()) {
        await this.#reload();
      } else {
        await this.#turn.wait(this.#untilMyTurnMs());
        const isEarly = this.#untilMyTurnMs() > 0 && this.#log.shared;
        if (isEarly || this.#isClosed() || this.#isBehind()) continue;
        // A companion that cannot get ready is like a log that cannot be read: all begins anew.
        await this.#tryToLead().catch((error: unknown) => {
          this.#trouble.report("could not lead", error);
          this.#mustReload = true;
        });
      }
    }
  }

  /** Alone, as soon as the store may work again; at once where nobody has led yet. */
  #untilMyTurnMs(): number {
    if (!this.#follower) return ENGINE.recoveryMs;
    return this.#turn.inMs(this.#replica.head === 0 ? Infinity : this.#follower.silentMs);
  }

  /** Rebuilds the state from the log, however long that takes to succeed. */
  async #reload(): Promise<void> {
    this.#setMode("loading");
    await this.#follower?.stop();
    this.#follower = undefined;
    while (!this.#isClosed()) {
      try {
        this.#replica = await load(this.#log, this.#rules);
        if (!this.#isClosed()) this.#follow();
        return;
      } catch (error) {
        this.#trouble.reportOnce("could not read the log", error);
        await this.#turn.wait(ENGINE.recoveryMs);
      }
    }
  }

  /** Stands ready with a state that is all in the log. */
  #follow(): void {
    const { state, head } = this.#replica;
    this.observers.attach(this.#replica);
    this.#hub.skipTo(head);
    this.#time.catchUp(state.lastAtMs);
    this.#mustReload = false;
    if (this.#log.shared) {
      const follower = new Follower({
        log: this.#log,
        rules: this.#rules,
        replica: this.#replica,
        clock: this.#clock,
        onApplied: (recorded) => this.#applied(recorded),
      });
      follower.ended.catch((error: unknown) => {
        this.#trouble.report("stopped following", error);
        this.#mustReload = true;
        this.#turn.hurry();
      });
      this.#follower = follower;
      this.#turn.begin();
    }
    this.#setMode("following");
  }

  #applied(recorded: readonly RecordedEvent[]): void {
    const last = recorded.at(-1);
    if (!last) return;
    this.#time.catchUp(last.atMs);
    this.#hub.publish(recorded);
  }

  /** Appends the claim to lead at the head this node knows: if that succeeds, it leads. */
  async #tryToLead(): Promise<void> {
    const { state, head, floor } = this.#replica;
    const before = state.leadership.node;
    const atMs = this.#time.nowMs();
    const proved = markOf(this.#clock);
    const text = encode(leading(state, this.#options.node, floor), atMs);
    try {
      await this.#log.append({ entries: [text], fence: floor }, head);
    } catch (error) {
      if (codeOf(error) !== "FENCED") this.#trouble.reportOnce("could not lead", error);
      // Whether it was written is not known. Followers will see; alone, look.
      const hasMoved = ({ head: now }: LogRange) => now !== head;
      if (!this.#follower) this.#mustReload = await this.#log.open().then(hasMoved, () => true);
      this.#turn.missed();
      return;
    }
    this.#applied(apply(this.#replica, this.#rules, { first: head + 1, entries: [text] }));
    // The leader before may not know of it, and answers from memory for as long as this.
    if (this.#log.shared && before !== "") await this.#turn.wait(ENGINE.handoverMs);
    if (this.#isClosed() || this.#isBehind() || this.#replica.head !== head + 1) return;
    await this.#follower?.stop();
    await this.#options.companion?.prepare(this.#replica.state);
    if (this.#isClosed() || this.#replica.head !== head + 1) return;
    this.#follower = undefined;
    this.#leading = this.#lead(atMs, proved);
    this.#setMode("leading");
  }

  #lead(claimedAtMs: number, proved: Mark): Leading {
    const { node, newId, onAppend, companion, audit } = this.#options;
    return new Leading({
      node,
      newId,
      companion,
      audit,
      log: this.#log,
      rules: this.#rules,
      replica: this.#replica,
      clock: this.#clock,
      time: this.#time,
      snapshots: this.#snapshots,
      stats: this.stats,
      claimedAtMs,
      proved,
      onDurable: (recorded, tookMs) => {
        countBatch(this.stats, recorded);
        this.#hub.publish(recorded);
        onAppend?.(recorded.length, tookMs);
      },
      onTrouble: (what, error) => this.#trouble.report(what, error),
    });
  }

  async #forward<C extends Command>(command: C, by: By): Promise<ReplyTo<C>> {
    const { forwarder, leader } = this.#otherLeader();
    return forwarder.execute(leader, command, by);
  }

  /** Waits until this node has seen all that the leader had when this was called. */
  async #catchUp(): Promise<void> {
    const follower = this.#follower;
    const target = await this.#barrier();
    if (!follower) throw this.#unavailable();
    await follower.reached(target);
  }

  async #barrier(): Promise<number> {
    if (this.#leading) return this.barrierHere();
    // A claim to lead may be written without this node knowing yet; the log knows.
    if (!this.#log.shared) return (await this.#log.open()).head;
    const { forwarder, leader } = this.#otherLeader();
    return forwarder.barrier(leader);
  }

  #otherLeader(): { readonly forwarder: Forwarder; readonly leader: string } {
    const { forwarder, node } = this.#options;
    const leader = this.#replica.state.leadership.node;
    const isOther = this.#mode === "following" && leader !== "" && leader !== node;
    if (!forwarder || !isOther) throw this.#unavailable();
    return { forwarder, leader };
  }

  #setMode(mode: EngineMode): void {
    this.#mode = mode;
    if (mode === "loading") this.#loaded.shut();
    else this.#loaded.open();
  }

  // The follower stopped, or the log has moved: only a reload helps.
  #isBehind(): boolean {
    return this.#mustReload;
  }

  // A method: the compiler would take a property for unchanged across an await.
  #isClosed(): boolean {
    return this.#mode === "closed";
  }

  #unavailable(): RollcallError {
    if (this.#isClosed()) return closing();
    return new RollcallError("UNAVAILABLE", `this node does not lead: ${this.#trouble.reason}`);
  }
}

const DONE: Promise<null> = Promise.resolve(null);
