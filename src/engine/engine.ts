/**
 * The engine: the one place that turns commands into events. Rules decide, the log makes durable,
 * and only then does anybody hear of it. What it does when, and what it may answer, depends on the
 * mode that this node is in: member.ts draws them.
 */
import { beatBy } from "../core/acting.ts";
import { beat } from "../core/agents.ts";
import type { By } from "../core/by.ts";
import { EngineTime } from "../core/clock.ts";
import type { Beat } from "../core/directory.ts";
import { codeOf, RollcallError } from "../core/errors.ts";
import type { RecordedEvent } from "../core/events.ts";
import { ENGINE } from "../core/limits.ts";
import type { Part } from "../core/parts.ts";
import { requestName } from "../core/requests.ts";
import type { Command, ReplyTo } from "../core/rules.ts";
import type { State } from "../core/state.ts";
import { closing } from "./closing.ts";
import type { BeatBatch, Forwarded, ForwardTarget } from "./forward.ts";
import { Forwarding, isPassing } from "./forwarding.ts";
import type { KnownLog } from "./known-log.ts";
import { LateCopies } from "./late-copies.ts";
import { Member, type EngineMode } from "./member.ts";
import { Observers } from "./observer.ts";
import { DEFAULTS, type EngineOptions } from "./options.ts";
import { history, stateAt, type Past } from "./past.ts";
import { selected } from "./replica.ts";
import { emptyStats, type EngineStats } from "./stats.ts";
import { WatchHub } from "./watch-hub.ts";
import type { Watch, WatchOptions } from "./watch.ts";

export type { EngineMode };

/** The parts of an engine, before it is open. */
interface EngineParts {
  readonly member: Member;
  readonly time: EngineTime;
  readonly hub: WatchHub;
  readonly stats: EngineStats;
  readonly observers: Observers;
}

export class Engine implements ForwardTarget {
  readonly #options: EngineOptions & typeof DEFAULTS;
  readonly #member: Member;
  readonly #time: EngineTime;
  readonly #hub: WatchHub;
  /** Only where there are other nodes. */
  readonly #forwarding: Forwarding | undefined;
  readonly #copies: LateCopies;
  readonly stats: EngineStats;
  readonly observers: Observers;

  /** Resolves when it can answer; rejects when the log cannot be opened or read. */
  static async open(given: EngineOptions): Promise<Engine> {
    const options = { ...DEFAULTS, ...given };
    const { log, clock } = options;
    const [time, stats, observers] = [new EngineTime(clock), emptyStats(), new Observers()];
    const hub = new WatchHub({ log, barrier: () => engine.#barrier() });
    let onChange = () => undefined as void;
    const audience = {
      observers,
      onChange: () => onChange(),
      publish: (recorded: readonly RecordedEvent[]) => hub.publish(recorded),
      skipTo: (head: number) => hub.skipTo(head),
      end: () => hub.close(),
    };
    const member = await Member.open({ ...options, time, stats, audience });
    const engine: Engine = new Engine(options, { member, time, hub, stats, observers });
    onChange = () => engine.#forwarding?.leaderChanged();
    return engine;
  }

  private constructor(options: EngineOptions & typeof DEFAULTS, parts: EngineParts) {
    this.#options = options;
    this.#member = parts.member;
    this.#time = parts.time;
    this.#hub = parts.hub;
    this.stats = parts.stats;
    this.observers = parts.observers;
    this.#copies = new LateCopies(options.clock);
    const { forwarder, log } = options;
    if (!forwarder || !log.shared) return;
    this.#forwarding = new Forwarding({
      ...options,
      forwarder,
      mode: () => this.mode,
      state: () => this.#member.replica.state,
      unavailable: () => this.#unavailable(),
    });
  }

  get mode(): EngineMode {
    return this.#member.mode;
  }

  get node(): string {
    return this.#options.node;
  }

  /** The sequence of the last durable event this node knows of. */
  get head(): number {
    return this.#hub.head;
  }

  /** The last position of the log that it has seen: for the next process of this node. */
  get known(): KnownLog {
    return this.#member.known;
  }

  get watches(): { readonly open: number; readonly cut: number } {
    return { open: this.#hub.size, cut: this.#hub.cuts };
  }

  get snapshotCount(): number {
    return this.#member.snapshots.count;
  }

  /** Has a caller's command decided; resolves when it is durable, rejects with the refusal. */
  execute<C extends Command>(command: C, by: By): Promise<ReplyTo<C>> {
    const { leading } = this.#member;
    return leading ? leading.execute(command, by) : this.#forward(command, by);
  }

  async #forward<C extends Command>(command: C, by: By): Promise<ReplyTo<C>> {
    if (!this.#forwarding) throw this.#unavailable();
    const named = this.#forwarding.named(by);
    try {
      const { reply, head } = await this.#forwarding.execute(command, named);
      // The caller sees here what it did; where that takes too long it is done all the same.
      await this.#member.follower?.reached(head).catch(() => undefined);
      return reply;
    } catch (error) {
      const { leading } = this.#member;
      if (leading && isPassing(error)) return leading.execute(command, named);
      throw error;
    }
  }

  /** A heartbeat. Most cost a lookup and leave no trace. */
  heartbeat(agentId: string, by: By): Promise<null> {
    this.stats.heartbeats += 1;
    const { leading, mode, replica } = this.#member;
    if (leading?.heartbeat(agentId, by)) return DONE;
    // Alone with a store that cannot be written to: no agent dies either, a known one may go on.
    const isStranded = mode === "following" && !this.#options.log.shared;
    if (isStranded && beatBy(replica.state, { agentId, by }, this.#time.nowMs())) {
      this.observers.heard(agentId);
      return DONE;
    }
    return this.#forwardBeat(agentId, by);
  }

  /** What the leader has taken is noted here too: who asks this node sees when it was. */
  async #forwardBeat(agentId: string, by: By): Promise<null> {
    const isTaken = await this.#forwarding?.takeBeat({ agentId, by });
    if (!isTaken) await this.execute({ type: "agent.heartbeat", agentId }, by);
    const { leading, replica } = this.#member;
    const isNoted = !leading && beat(replica.state, agentId, this.#time.nowMs());
    if (isNoted) this.observers.heard(agentId);
    return null;
  }

  /** A heartbeat of an entry of the directory that says nothing new; false when it takes more. */
  refresh(entry: Beat): boolean {
    return this.#member.leading?.refresh(entry) ?? false;
  }

  /**
   * Reads the latest state: everything acknowledged anywhere before this call is in it, and all of
   * it, up to `sequence`, is durable when this resolves. What is selected must not be changed, and
   * `select` changes nothing: where this node turns out not to lead, it looks again, elsewhere.
   */
  async read<T>(select: (state: State, sequence: number) => T): Promise<T> {
    const member = this.#member;
    for (let tries = 1; ; tries += 1) {
      while (this.mode === "loading") {
        if (!(await member.loaded.opened(ENGINE.catchUpMs))) throw this.#unavailable();
      }
      try {
        if (this.#isClosed()) throw closing();
        if (member.leading) return await member.leading.current(selected(member.replica, select));
        // The only writer, and it cannot write: what it has is all there is.
        if (!this.#options.log.shared) return selected(member.replica, select);
        await this.#catchUp();
        if (this.mode === "following") return selected(member.replica, select);
      } catch (error) {
        if (codeOf(error) !== "UNAVAILABLE" || tries === ENGINE.readTries || this.#isClosed())
          throw error;
      }
    }
  }

  /** The same of one part of the state: it does not wait while others write something else. */
  async readPart<P extends Part, T>(part: P, select: (part: State[P]) => T): Promise<T> {
    const { leading } = this.#member;
    if (leading?.isCurrent(part)) return select(leading.state[part]);
    return this.read((state) => select(state[part]));
  }

  /** Looks at the state as it is here and now, durable or not: for gauges and the like. */
  peek<T>(select: (state: State) => T): T {
    return select(this.#member.replica.state);
  }

  watch(options: WatchOptions = {}): Watch {
    if (this.#isClosed() || this.mode === "outdated") throw this.#unavailable();
    return this.#hub.watch(options);
  }

  /** The state as it was at a moment; rejects with OUT_OF_RANGE where the log does not reach. */
  past(atMs: number): Promise<Past> {
    return stateAt(this.#options.log, this.#options.rules, atMs);
  }

  /** The events as far as the log reaches back; `isWanted` sees each as the log keeps it. */
  history(isWanted: (text: string) => boolean): AsyncGenerator<RecordedEvent> {
    return history(this.#options.log, isWanted);
  }

  /** Now, as events tell it. */
  get nowMs(): number {
    return this.#time.nowMs();
  }

  async executeHere<C extends Command>(command: C, by: By): Promise<Forwarded<C>> {
    const { leading } = this.#member;
    if (!leading) throw this.#unavailable();
    const reply = await this.#once(command, by, () => leading.execute(command, by));
    return { reply, head: this.#hub.head };
  }

  #once<T>({ type }: Command, by: By, decide: () => Promise<T>): Promise<T> {
    const name = requestName({ type, by });
    if (name === undefined) return decide();
    const isLogged = () => this.peek(({ requests }) => requests.byName.has(name));
    return this.#copies.once(name, decide, isLogged);
  }

  async beatHere(batch: BeatBatch): Promise<readonly string[]> {
    const { leading } = this.#member;
    if (!leading) throw this.#unavailable();
    return leading.beats(batch);
  }

  async barrierHere(): Promise<number> {
    const { leading, replica } = this.#member;
    if (!leading) throw this.#unavailable();
    return leading.current(replica.head);
  }

  /** Has another node lead; rejects where this one does not. */
  async stepDown(): Promise<void> {
    if (!this.#member.leading || !this.#options.log.shared) throw this.#unavailable();
    await this.#member.stepDown();
  }

  /** Lets what is under way finish, then ends all watches. The log is its owner's to close. */
  async close(): Promise<void> {
    if (this.#isClosed()) return;
    this.#forwarding?.close();
    await this.#member.close();
    this.#hub.close();
  }

  /** Waits until this node has seen all that the leader had when this was called. */
  async #catchUp(): Promise<void> {
    const { follower } = this.#member;
    const target = await this.#barrier();
    if (!follower) throw this.#unavailable();
    await follower.reached(target);
  }

  async #barrier(): Promise<number> {
    if (this.#member.leading) return this.barrierHere();
    // A claim to lead may be written without this node knowing yet; the log knows.
    if (!this.#options.log.shared) return (await this.#options.log.open()).head;
    if (!this.#forwarding) throw this.#unavailable();
    return this.#forwarding.barrier();
  }

  // A method: the compiler would take a property for unchanged across an await.
  #isClosed(): boolean {
    return this.mode === "closed";
  }

  #unavailable(): RollcallError {
    if (this.#isClosed()) return closing();
    const { reason } = this.#member.trouble;
    if (this.mode === "outdated") return new RollcallError("UNAVAILABLE", reason);
    return new RollcallError("UNAVAILABLE", `this node does not lead: ${reason}`);
  }
}

const DONE: Promise<null> = Promise.resolve(null);
