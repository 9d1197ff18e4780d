/**
 * One term of leading: decides commands, lets deadlines pass, and answers when the log has it.
 * It ends when an append fails, and is never used again.
 */
import { beat, isUnreachable, needsKey } from "../core/agents.ts";
import { ITSELF, ownBy, type By } from "../core/by.ts";
import { refreshEntry, seeEntry, type Beat } from "../core/directory.ts";
import { RollcallError } from "../core/errors.ts";
import { anothersAgent, auditedTarget } from "../core/audit.ts";
import { beatBy } from "../core/acting.ts";
import { hear } from "../core/outposts.ts";
import { fenceOf } from "../core/fencing.ts";
import { refuse, type Decision } from "../core/decide.ts";
import { encode, type Event } from "../core/events.ts";
import { seeMember } from "../core/members.ts";
import type { Job } from "../core/jobs.ts";
import { ENGINE } from "../core/limits.ts";
import { resigned } from "../core/nodes.ts";
import type { Part } from "../core/parts.ts";
import type { Command, Reply, ReplyTo } from "../core/rules.ts";
import type { State } from "../core/state.ts";
import type { LogPosition } from "../log/log.ts";
import type { Audit } from "./audit.ts";
import { closing } from "./closing.ts";
import type { StreamWriter } from "./batch.ts";
import { Committer } from "./committer.ts";
import type { Term } from "./companion.ts";
import type { BeatBatch } from "./forward.ts";
import type { LeadingOptions, Recording, TermEnd } from "./leading-options.ts";
import { Tick } from "./tick.ts";

export class Leading implements Term {
  readonly #options: LeadingOptions;
  readonly #committer: Committer;
  #lastLookMs: number;
  /** The time since then that does not count as unseen. */
  #seenMs: number;
  readonly #tick: Tick;
  /** More is due than happened in this turn of the loop. */
  #isBehind = false;
  /** Neither the companion nor a deadline decides anything more. */
  #isDismissed = false;
  #end: (how: TermEnd) => void = () => undefined;
  #draining: Promise<void> | undefined;

  /** Resolves when the term is over. */
  readonly ended: Promise<TermEnd>;

  constructor(options: LeadingOptions) {
    this.#options = options;
    const { log, rules, replica, clock, time, proved, nextId, onDurable } = options;
    this.#tick = new Tick({ clock, time, onTick: () => this.#onTick() });
    this.#lastLookMs = options.claimedAtMs;
    // Where nodes share a log every term begins with node.resumed.
    this.#seenMs = options.log.shared ? -1 : ENGINE.claimSeenMs;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#committer = new Committer({
      log,
      position: { head: replica.head, mark: replica.mark },
      nextId,
      proved,
      clock,
      fence: () => fenceOf(replica.state),
      onDurable: (recorded, append) => {
        onDurable(recorded, append);
        this.expect(Math.min(rules.due(replica.state) ?? Infinity, this.#snapshotDueMs));
      },
      onFailure: (reason) => this.#over({ reason }),
    });
    options.audit?.begin();
    options.companion?.lead(this);
    this.#onTick();
  }

  get state(): State {
    return this.#options.replica.state;
  }

  nowMs(): number {
    return this.#options.time.quickMs();
  }

  /** For who answers by callbacks: the reply at once, before it is durable; throws the refusal. */
  decide<C extends Command>(command: C, by: By): ReplyTo<C> {
    let decision: Decision<Event, Reply>;
    try {
      decision = this.#decideNow(command, by);
    } catch (error) {
      throw this.#torn(command, error);
    }
    if (!decision.ok) throw new RollcallError(decision.code, decision.reason);
    return decision.reply as ReplyTo<C>;
  }

  after(call: () => void): void {
    this.#committer.after(call);
  }

  join(writer: StreamWriter, length: number): void {
    this.#committer.join(writer, length);
  }

  reserve(length: number): void {
    const { waitingStreamBytes: most } = ENGINE;
    if (this.#committer.streamBytes + length > most) {
      const message = `more than ${most} bytes of job events wait for the disk`;
      throw new RollcallError("LIMIT_EXCEEDED", message);
    }
    this.#committer.beginUnlessRoom(length);
  }

  room(): Promise<void> | undefined {
    return this.#committer.room();
  }

  felt(job: Job): void {
    this.#options.replica.observers?.felt(job);
  }

  get streamBytes(): number {
    return this.#committer.streamBytes;
  }

  execute<C extends Command>(command: C, by: By): Promise<ReplyTo<C>> {
    try {
      return this.#decide(command, by);
    } catch (error) {
      return Promise.reject(this.#torn(command, error));
    }
  }

  #torn({ type }: Command, cause: unknown): RollcallError {
    this.#tear(cause);
    return new RollcallError("INTERNAL", `${type} failed: a bug in this program`, { cause });
  }

  #decide<C extends Command>(command: C, by: By): Promise<ReplyTo<C>> {
    const committer = this.#committer;
    const decision = this.#decideNow(command, by);
    if (!decision.ok) {
      const refusal = new RollcallError(decision.code, decision.reason);
      return this.current(null).then(() => {
        throw refusal;
      });
    }
    const reply = decision.reply as ReplyTo<C>;
    if (decision.events.length === 0) return this.current(reply);
    committer.commandAdded();
    return committer.settled(reply);
  }

  #decideNow(command: Command, by: By): Decision<Event, Reply> {
    const { rules, replica, stats, newId, audit } = this.#options;
    stats.commands += 1;
    // Until the node knows, too, for a moment or while it resigns: nothing comes of it any more.
    if (this.#isDismissed) return refuse("UNAVAILABLE", NOT_ANY_MORE);
    const { callers, bytes } = this.#committer.waiting;
    // What the engine has to do itself, such as to end a job, has no caller that could come back.
    const mayRefuse = by !== ITSELF;
    if (mayRefuse && (callers >= ENGINE.queuedCommands || bytes >= ENGINE.queuedBytes)) {
      stats.refusals += 1;
      return refuse("LIMIT_EXCEEDED", `${callers} commands already wait for the disk`);
    }
    const nowMs = this.#look();
    const decision = rules.decide(replica.state, command, { nowMs, newId, by });
    if (!decision.ok) {
      stats.refusals += 1;
      if (audit && decision.code === "PERMISSION_DENIED") {
        audit.denied({ by, action: command.type, target: "" }, decision.reason);
      }
      return decision;
    }
    const texts = decision.events.map((event) => encode(event, nowMs, by));
    const isOneBatch = this.#committer.makeRoom(texts);
    if (!isOneBatch && mayRefuse) {
      stats.refusals += 1;
      const most = this.#committer.commandBytes;
      return refuse("LIMIT_EXCEEDED", `${command.type} has events of more than ${most} bytes`);
    }
    if (audit && decision.events.length > 0) this.#note(audit, command, by);
    if (command.type === "agent.heartbeat" && beat(replica.state, command.agentId, nowMs)) {
      replica.observers?.heard(command.agentId);
    }
    if (command.type === "outpost.beat" || command.type === "outpost.take") {
      hear(replica.state, command, nowMs);
    }
    if (command.type === "directory.heartbeat") seeEntry(replica.state, command.url, nowMs);
    this.#recordAll(decision.events, { nowMs, texts, isOneBatch });
    return decision;
  }

  /** What no append takes whole, and cannot be refused, goes with several. */
  #recordAll(events: readonly Event[], { nowMs, texts, isOneBatch }: Recording): void {
    for (const [i, event] of events.entries()) {
      if (!isOneBatch) this.#committer.makeRoom(texts.slice(i, i + 1));
      this.#record(event, nowMs, texts[i]);
    }
  }

  /** Goes with the events of the command, which are about to be recorded. */
  #note(audit: Audit, command: Command, by: By): void {
    const target = auditedTarget(this.state, command, by);
    if (target === undefined || by === ITSELF) return;
    this.join(audit, audit.done({ by, action: command.type, target }, this.nowMs()));
  }

  /** Takes the heartbeat of a living agent, if that can be done without the log. */
  heartbeat(agentId: string, by: By): boolean {
    const { replica, time } = this.#options;
    if (!this.#isFresh || !beatBy(replica.state, { agentId, by }, time.quickMs())) return false;
    if (by.isOperator && by.agentKey === undefined) this.#noteHeartbeat(agentId, by);
    replica.observers?.heard(agentId);
    return true;
  }

  /** Takes the heartbeats that another member heard, and those of the member itself. */
  beats(batch: BeatBatch): Promise<readonly string[]> {
    const { replica, time } = this.#options;
    const nowMs = time.quickMs();
    seeMember(replica.state, batch, nowMs);
    const { agentIds, unboundAgentIds } = batch;
    const refused = unboundAgentIds.filter((agentId) => needsKey(replica.state, agentId));
    const isRefused = new Set(refused);
    for (const agentId of [...agentIds, ...unboundAgentIds]) {
      if (isRefused.has(agentId)) continue;
      if (beat(replica.state, agentId, nowMs)) replica.observers?.heard(agentId);
      else if (isUnreachable(replica.state, agentId)) {
        // It recovers; a failure ends the term, and the next leader gives everybody a full ttl.
        this.execute({ type: "agent.heartbeat", agentId }, MEMBER).catch(() => null);
      } else refused.push(agentId);
    }
    return this.current(refused);
  }

  #noteHeartbeat(agentId: string, by: By): void {
    const { audit, replica } = this.#options;
    const target = audit && anothersAgent(replica.state, agentId, by);
    if (target !== undefined) audit?.noteOnce({ by, action: "agent.heartbeat", target });
  }

  /** The same for an entry of the directory that says what is known of it. */
  refresh(entry: Beat): boolean {
    const { replica, time, stats } = this.#options;
    if (!this.#isFresh || !refreshEntry(replica.state, entry, time.quickMs())) return false;
    stats.heartbeats += 1;
    return true;
  }

  /** Gives the value when all that can be seen now is durable and no other node led meanwhile. */
  current<T>(value: T): Promise<T> {
    // The answer to its resignation may be late, and the next leader has decided more.
    if (this.#isDismissed) return this.ended.then(() => Promise.reject(dismissed()));
    return this.#isFresh ? this.#committer.settled(value) : this.#committer.proved(value);
  }

  /** Whether this part of the state can be answered from memory, at once. */
  isCurrent(part: Part): boolean {
    return this.#isFresh && this.#committer.isDurable(part);
  }

  /** Where others may write, what this node remembers is only worth something for a while. */
  get #isFresh(): boolean {
    if (this.#isDismissed) return false;
    return (
      !this.#options.log.shared || this.#committer.provedMsAgo <= this.#options.times.leadershipMs
    );
  }

  /** Waits for what is under way, then ends the term; others that share the log are told. */
  drain(): Promise<void> {
    return (this.#draining ??= this.#drain());
  }

  async #drain(): Promise<void> {
    const committer = this.#committer;
    await committer.settled(null).catch(() => null);
    const mustResign = this.#options.log.shared && !this.#isDismissed;
    const resignedAt = mustResign ? await this.#resign().catch(() => undefined) : undefined;
    committer.stop(closing());
    this.#over(resignedAt ? { resignedAt } : {});
  }

  /** Gives the position after it, if all that was decided stands before that. */
  async #resign(): Promise<LogPosition | undefined> {
    const { replica, node, time, onResigning } = this.#options;
    const committer = this.#committer;
    this.#dismiss();
    onResigning();
    this.#record(resigned(replica.state, node), time.nowMs());
    await committer.settled(null);
    return committer.isSettled ? committer.position : undefined;
  }

  /** At once: nothing may be decided or written any more. */
  #over(how: TermEnd): void {
    this.#dismiss();
    this.#end(how);
  }

  #dismiss(): void {
    if (!this.#isDismissed) this.#options.companion?.end();
    this.#isDismissed = true;
    this.#tick.stop();
  }

  /** A rule broke off half-way: the state may be torn, so the term ends and it is rebuilt. */
  #tear(cause: unknown): void {
    this.#committer.stop(new RollcallError("UNAVAILABLE", "the state is rebuilt", { cause }));
    this.#over({ reason: cause });
  }

  #record(event: Event, atMs: number, text = encode(event, atMs, ITSELF)): void {
    const { rules, replica } = this.#options;
    replica.observers?.before(event, replica.state);
    rules.evolve(replica.state, event, atMs);
    this.#committer.add(event, atMs, text);
    replica.head = this.#committer.head;
    this.#options.companion?.onEvent(event);
  }

  /** Lets happen what is due, and tells the time. */
  #look(): number {
    const { time, node } = this.#options;
    const nowMs = time.nowMs();
    const seenMs = this.#seenMs;
    this.#seenMs = ENGINE.unseenMs;
    // Nothing lasts less than a second: what was due in this millisecond was seen to already.
    if (nowMs === this.#lastLookMs && seenMs >= 0) return nowMs;
    const unseenMs = nowMs - this.#lastLookMs;
    this.#lastLookMs = nowMs;
    // No heartbeat could arrive in that time, so no agent may be declared dead for it.
    const hasStepped = time.takeStepped() > 0;
    if (unseenMs > seenMs || hasStepped)
      this.#record({ type: "node.resumed", node, unseenMs }, nowMs);
    if (!this.#isBehind) this.#expireSome(nowMs);
    return nowMs;
  }

  /** What is left waits for the next tick: a turn of the loop may have many commands to decide. */
  #expireSome(nowMs: number): void {
    const { rules, replica } = this.#options;
    let left: number = ENGINE.expiriesPerTurn;
    for (; left > 0 && (rules.due(replica.state) ?? Infinity) <= nowMs; left -= 1) {
      const events = rules.expire(replica.state, nowMs);
      const texts = events.map((event) => encode(event, nowMs, ITSELF));
      this.#recordAll(events, { nowMs, texts, isOneBatch: this.#committer.makeRoom(texts) });
    }
    this.#isBehind = left === 0;
  }

  #onTick(): void {
    const { rules, replica, log, snapshots, onTrouble } = this.#options;
    const { tickMs } = this.#options.times;
    const committer = this.#committer;
    let nowMs: number;
    try {
      seeMember(replica.state, this.#options, this.#options.time.quickMs());
      this.#isBehind = false;
      nowMs = this.#look();
    } catch (error) {
      this.#tear(error);
      return;
    }
    // Alone it also shows that the store is still there.
    if (committer.isSettled && committer.provedMsAgo >= tickMs / 2) {
      // Its failure ends the term like that of any other append.
      committer.proved(null).catch(() => null);
    }
    if (snapshots.isDue(replica.head, nowMs)) {
      snapshots
        .take(replica.state, replica.head, committer.settled(null))
        .catch((error: unknown) => onTrouble("no snapshot was taken", error));
    }
    const mostMs = log.shared ? tickMs / 2 : tickMs;
    this.#tick.in(Math.min((rules.due(replica.state) ?? Infinity) - nowMs, mostMs));
  }

  /** A snapshot that is due is taken soon, not in the middle of a burst. */
  get #snapshotDueMs(): number {
    const { replica, snapshots, time, times } = this.#options;
    const nowMs = time.quickMs();
    return snapshots.isDue(replica.head, nowMs) ? nowMs + times.tickMs / 2 : Infinity;
  }

  expect(atMs: number): void {
    this.#tick.expect(atMs);
  }
}

const NOT_ANY_MORE = "this node does not lead any more";

function dismissed(): RollcallError {
  return new RollcallError("UNAVAILABLE", NOT_ANY_MORE);
}

/** Another member heard the agent, and has looked who may speak for it. */
const MEMBER: By = ownBy("daemon");
