/**
 * A node of those that share a log, or the only one: loads, follows, claims to lead, leads.
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
 * - outdated:  the log has an event that this version does not know. Nothing is answered until the
 *              node is upgraded; from loading and following, for good.
 *
 * Every failure takes the same way as a start: what is not in the log is forgotten, and the state
 * is rebuilt. There is no other recovery code. A leader that steps down counts as loading until it
 * knows what became of its resignation; where that is in the log, all that it decided is.
 */
import type { Clock, EngineTime } from "../core/clock.ts";
import { codeOf } from "../core/errors.ts";
import type { RecordedEvent, Topic } from "../core/events.ts";
import { ENGINE, FAILOVER, type FailoverTimes } from "../core/limits.ts";
import type { Rules } from "../core/rules.ts";
import { forgetSoft } from "../core/soft.ts";
import type { Log, LogPosition } from "../log/log.ts";
import { appendIds } from "./append-ids.ts";
import { claimLead, hasSigned, type LeadClaim } from "./claim.ts";
import { Follower } from "./follower.ts";
import { checkLog, hasLost, knownOf, lossOf, type KnownLog } from "./known-log.ts";
import { KeptSnapshots } from "./kept-snapshots.ts";
import { Latch } from "./latch.ts";
import { Lateness } from "./lateness.ts";
import { Leading } from "./leading.ts";
import type { Observers } from "./observer.ts";
import type { DEFAULTS, EngineOptions } from "./options.ts";
import { load, type Replica } from "./replica.ts";
import { signWhile } from "./signs.ts";
import { DEFAULT_RETENTION, Snapshots } from "./snapshots.ts";
import { countBatch, type EngineStats } from "./stats.ts";
import { Trouble } from "./trouble.ts";
import { Turn } from "./turn.ts";

export type EngineMode = "loading" | "following" | "leading" | "outdated" | "closed";

/** Told of what becomes durable and of what is rebuilt. */
export interface Audience {
  readonly observers: Observers;
  /** Another node leads, or this one is in another mode. */
  onChange(): void;
  /** Follows directly on what was published before. */
  publish(recorded: readonly RecordedEvent[]): void;
  /** Events in between were not published: they are only in the log. */
  skipTo(head: number): void;
  /** Nothing more will come. */
  end(): void;
}

interface MemberParts {
  readonly time: EngineTime;
  readonly stats: EngineStats;
  readonly audience: Audience;
}

type EngineMemberOptions = EngineOptions & typeof DEFAULTS & MemberParts;

export class Member {
  readonly #options: EngineMemberOptions;
  readonly #log: Log;
  readonly #rules: Rules;
  readonly #clock: Clock;
  readonly snapshots: Snapshots;
  readonly #kept: KeptSnapshots;
  readonly trouble: Trouble;
  /** Open but while the state is being rebuilt. */
  readonly loaded: Latch;
  readonly #times: FailoverTimes;
  readonly #lateness: Lateness;
  readonly #turn: Turn;
  readonly #nextAppendId: () => string;
  #replica: Replica;
  #known: KnownLog;
  #mode: EngineMode = "loading";
  #leading: Leading | undefined;
  #follower: Follower | undefined;
  #running: Promise<void> = Promise.resolve();
  #mustReload = false;

  /** Rejects when the log cannot be opened or read, or is not the one that is known. */
  static async open(options: EngineMemberOptions): Promise<Member> {
    const { log, rules, known, acceptLoss, time } = options;
    const replica = await load(log, rules);
    if (known && !acceptLoss) await checkLog(log, known);
    const member = new Member(options, replica);
    if (!log.shared) await member.snapshots.start(time.nowMs());
    member.#stepIn();
    if (!log.shared) await member.#tryToLead();
    member.#running = member.#run();
    return member;
  }

  private constructor(options: EngineMemberOptions, replica: Replica) {
    this.#options = options;
    this.#log = options.log;
    this.#rules = options.rules;
    this.#clock = options.clock;
    // Alone there is nobody who could take over.
    this.#times = FAILOVER[options.log.shared ? options.failover : "calm"];
    this.#lateness = new Lateness(this.#times.tickMs);
    this.#turn = new Turn({ clock: options.clock, random: options.random, times: this.#times });
    this.loaded = new Latch(this.#clock);
    this.snapshots = new Snapshots(options.log, { ...DEFAULT_RETENTION, ...options.retention });
    this.#kept = new KeptSnapshots({
      mirror: options.log.mirror,
      everyEvents: options.retention?.snapshotEveryEvents,
      onTrouble: (what, error) => this.trouble.report(what, error),
    });
    this.#nextAppendId = appendIds(options.newId);
    this.#replica = replica;
    this.#known = knownOf(replica);
    this.trouble = new Trouble((what, error) => {
      if (!this.#isClosed()) options.onTrouble?.(what, error);
    });
  }

  get mode(): EngineMode {
    return this.#mode;
  }

  get replica(): Replica {
    return this.#replica;
  }

  /** Its term, while it leads: not from the moment on that it resigns, whatever comes of that. */
  get leading(): Leading | undefined {
    return this.#mode === "leading" ? this.#leading : undefined;
  }

  /** While it follows another node. */
  get follower(): Follower | undefined {
    return this.#follower;
  }

  get known(): KnownLog {
    return this.#known;
  }

  /** Ends its term once what is under way is durable, and lets the others go first. */
  async stepDown(): Promise<void> {
    this.#turn.rest();
    await this.#leading?.drain();
  }

  /** Lets what is under way finish. */
  async close(): Promise<void> {
    const term = this.#leading;
    this.#leading = undefined;
    this.#setMode("closed");
    await term?.drain();
    await this.#follower?.stop();
    this.#turn.hurry();
    await this.#running;
  }

  /** Leads while it can, follows while it cannot, until it is closed. */
  async #run(): Promise<void> {
    while (!this.#isOver()) {
      if (this.#leading) {
        const { reason, resignedAt } = await this.#leading.ended;
        this.#leading = undefined;
        if (this.#isClosed()) return;
        if (resignedAt) {
          this.#goOn(resignedAt);
          continue;
        }
        this.#options.stats.rebuilds += 1;
        if (reason !== undefined) this.trouble.report("stopped leading", reason);
        await this.#reload();
      } else if (this.#isBehind()) {
        await this.#reload();
      } else {
        await this.#turn.wait(this.#untilMyTurnMs());
        const isEarly = this.#untilMyTurnMs() > 0 && this.#log.shared;
        if (isEarly || !this.#options.mayLead || this.#isClosed() || this.#isBehind()) continue;
        // A companion that cannot get ready is like a log that cannot be read: all begins anew.
        await this.#tryToLead().catch((error: unknown) => {
          this.trouble.report("could not lead", error);
          this.#mustReload = true;
        });
      }
    }
  }

  /** Alone, as soon as the store may work again; at once where nobody leads. */
  #untilMyTurnMs(): number {
    if (!this.#follower || !this.#options.mayLead) return ENGINE.recoveryMs;
    const silentMs = this.#isVacant ? Infinity : this.#follower.silentMs;
    return this.#turn.inMs(silentMs, this.#lateness.patienceMs);
  }

  /** True before the first leader, and after a leader resigned. */
  get #isVacant(): boolean {
    return this.#replica.state.leadership.node === "";
  }

  /** Rebuilds the state from the log, however long that takes to succeed. */
  async #reload(): Promise<void> {
    this.#setMode("loading");
    await this.#follower?.stop();
    this.#follower = undefined;
    while (!this.#isClosed()) {
      try {
        const replica = await load(this.#log, this.#rules);
        if (await hasLost(this.#log, this.#known, this.#options)) {
          this.#options.stats.divergences += 1;
          this.trouble.report("the log has lost what was acknowledged", lossOf(this.#known));
        }
        this.#replica = replica;
        this.#known = knownOf(replica);
        if (!this.#isClosed()) this.#stepIn();
        return;
      } catch (error) {
        if (codeOf(error) === "STORAGE_TOO_NEW") return this.#outdate(error);
        this.trouble.reportOnce("could not read the log", error);
        await this.#turn.wait(ENGINE.recoveryMs);
      }
    }
  }

  #outdate(error: unknown): void {
    if (this.#isClosed()) return;
    this.trouble.report("upgrade this node", error);
    this.#options.audience.end();
    this.#setMode("outdated");
  }

  /** From where its term ended: to load all anew would take a core from the next leader. */
  #goOn({ mark }: LogPosition): void {
    const replica = this.#replica;
    replica.mark = mark;
    replica.lastId = this.#known.lastId;
    forgetSoft(replica.state, (job) => replica.observers?.felt(job));
    this.#follow();
  }

  /** A state that was loaded takes the place of the one before. */
  #stepIn(): void {
    this.#options.audience.observers.attach(this.#replica);
    this.#options.audience.skipTo(this.#replica.head);
    this.#follow();
  }

  /** Stands ready with a state that is all in the log. */
  #follow(): void {
    this.#options.time.catchUp(this.#replica.state.lastAtMs);
    this.#mustReload = false;
    if (this.#log.shared) {
      const follower = new Follower({
        log: this.#log,
        rules: this.#rules,
        replica: this.#replica,
        clock: this.#clock,
        lateness: this.#lateness,
        onApplied: (recorded) => {
          this.#applied(recorded);
          this.#kept.applied(this.#replica);
        },
      });
      follower.ended.catch((error: unknown) => {
        this.trouble.report("stopped following", error);
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
    this.#options.time.catchUp(last.atMs);
    this.#known = knownOf(this.#replica);
    this.#options.audience.publish(recorded);
    if (this.#isVacant) this.#turn.hurry();
    if (!recorded.some(({ event }) => LEADER_EVENTS.includes(event.type))) return;
    this.#turn.begin();
    this.#options.audience.onChange();
  }

  /** Appends the claim to lead: if that succeeds, it leads. */
  async #tryToLead(): Promise<void> {
    const replica = this.#replica;
    const claim = await this.#claim();
    if (!claim) return this.#turn.missed();
    this.#applied(claim.recorded);
    if (this.#isClosed() || this.#isBehind() || replica.head !== claim.sequence) return;
    await this.#follower?.stop();
    // The others took some meanwhile. Nobody waits for it: the commands come first.
    if (this.#log.shared) this.#findSnapshots();
    await signWhile(this.#options.companion?.prepare(replica.state), {
      log: this.#log,
      replica,
      turn: this.#turn,
      times: this.#times,
      nextId: this.#nextAppendId,
      isClosed: () => this.#isClosed(),
    });
    if (this.#isClosed() || replica.head !== claim.sequence) return;
    this.#follower = undefined;
    this.#leading = this.#lead(claim);
    this.#setMode("leading");
  }

  /** Undefined when it was not written, or nobody knows. Followers will see; alone, look. */
  async #claim(): Promise<LeadClaim | undefined> {
    const [log, rules, replica] = [this.#log, this.#rules, this.#replica];
    const [clock, time, id] = [this.#clock, this.#options.time, this.#nextAppendId()];
    const { head } = replica;
    try {
      const { node } = this.#options;
      return await claimLead({ node, log, rules, replica, clock, time, id });
    } catch (error) {
      const isFenced = codeOf(error) === "FENCED";
      if (!isFenced) this.trouble.reportOnce("could not lead", error);
      const follower = this.#follower;
      if (!follower) {
        this.#mustReload = await log.open().then(
          (range) => range.head !== head,
          () => true,
        );
      } else if (isFenced && (await hasSigned(log, replica).catch(() => false))) follower.hear();
      return undefined;
    }
  }

  #findSnapshots(): void {
    this.snapshots
      .start(this.#options.time.nowMs())
      .catch((error: unknown) => this.trouble.report("could not look for snapshots", error));
  }

  #lead({ atMs: claimedAtMs, proved }: LeadClaim): Leading {
    const { node, instance, newId, onAppend, companion, audit } = this.#options;
    return new Leading({
      node,
      instance,
      newId,
      companion,
      audit,
      times: this.#times,
      log: this.#log,
      rules: this.#rules,
      replica: this.#replica,
      clock: this.#clock,
      time: this.#options.time,
      snapshots: this.snapshots,
      stats: this.#options.stats,
      claimedAtMs,
      proved,
      nextId: this.#nextAppendId,
      onDurable: (recorded, { head, id, tookMs }) => {
        countBatch(this.#options.stats, recorded);
        if (recorded.length > 0) this.#known = { logId: this.#replica.logId, head, lastId: id };
        this.#options.audience.publish(recorded);
        onAppend?.(recorded.length, tookMs);
      },
      onResigning: () => {
        if (!this.#isClosed()) this.#setMode("loading");
      },
      onTrouble: (what, error) => this.trouble.report(what, error),
    });
  }

  #setMode(mode: EngineMode): void {
    this.#mode = mode;
    if (mode === "loading") this.loaded.shut();
    else this.loaded.open();
    this.#options.audience.onChange();
  }

  // The follower stopped, or the log has moved: only a reload helps.
  #isBehind(): boolean {
    return this.#mustReload;
  }

  // It neither leads nor follows, and will not again.
  #isOver(): boolean {
    return this.#mode === "outdated" || this.#isClosed();
  }

  // A method: the compiler would take a property for unchanged across an await.
  #isClosed(): boolean {
    return this.#mode === "closed";
  }
}

const LEADER_EVENTS: readonly Topic[] = ["node.leading", "node.resigned"];
