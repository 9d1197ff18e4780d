/**
 * Waiting for a task: a caller that finds none that fits waits for one, and the caller that has
 * waited longest is first. No polling: a task that is created or returned wakes the waiter.
 *
 *   claim ──▶ waiting ──a task fits──▶ asking ──durable──▶ has it
 *                │ ▲                     │
 *                │ └─ somebody was first ┘
 *                └── went away, its agent died, the engine closed ──▶ told so
 *
 * Agents with the same tools wait in one line, so that a new task costs a look at each line and
 * not at each of ten thousand agents.
 *
 * A caller may go away in the moment its claim becomes durable. Then the task is returned to its
 * old place in the queue, and the longest waiter gets it: no agent has worked on it, so no retry
 * is spent.
 */
import { actorIn, type Actor } from "../core/acting.ts";
import { livingAgent } from "../core/agents.ts";
import { RollcallError } from "../core/errors.ts";
import { Heap, type Slot } from "../core/heap.ts";
import { checkShare, Holdings, wishOf } from "../core/shares.ts";
import type { Task } from "../core/tasks.ts";
import type { Clock } from "../core/clock.ts";
import { closing } from "./closing.ts";
import type { Engine } from "./engine.ts";
import type { Watch, WatchItem } from "./watch.ts";

/** One call of each agent of a large cluster; each costs a few hundred bytes. */
const MAX_WAITING = 100_000;

/** Events that may make a task claimable, or end a wait. */
const TOPICS = ["task.created", "task.requeued", "task.returned", "agent.died"];

interface WaitingClaim extends Actor {
  readonly line: Line;
  readonly arrival: number;
  /** Its place in the line, which it leaves while a task is asked for. */
  slot: Slot<WaitingClaim> | undefined;
  /** False when the call was answered before. */
  readonly give: (task: Task) => boolean;
  readonly fail: (error: unknown) => void;
}

/** The waiters with the same tools, the one that has waited longest first. */
interface Line {
  readonly name: string;
  readonly tools: readonly string[];
  readonly waiting: Heap<WaitingClaim>;
  /** Waiters in line, and those with a claim under way. */
  members: number;
  /** Another node decides, and has not yet: no second call is sent after the same task. */
  isHeld: boolean;
}

export interface Wait {
  readonly waitMs: number;
  readonly clock: Clock;
  /** Aborts when the caller is gone. */
  readonly signal: AbortSignal;
}

export interface TaskClaimsOptions {
  readonly engine: Engine;
  readonly maxWaiting?: number;
}

export class TaskClaims {
  readonly #engine: Engine;
  readonly #maxWaiting: number;
  readonly #lines = new Map<string, Line>();
  readonly #byAgent = new Map<string, Set<WaitingClaim>>();
  readonly #holdings = new Holdings();
  #watch: Watch | undefined;
  #arrivals = 0;
  /** Grows with everything that may make a task fit. */
  #wakeups = 0;
  #isClosed = false;

  constructor({ engine, maxWaiting = MAX_WAITING }: TaskClaimsOptions) {
    this.#engine = engine;
    this.#maxWaiting = maxWaiting;
  }

  /** How many calls wait. */
  get waiting(): number {
    return this.#holdings.total;
  }

  /** Resolves with a task the agent has claimed; rejects when the signal aborts before. */
  async claim(actor: Actor, signal: AbortSignal): Promise<Task> {
    const agent = await this.#engine.read((state) => actorIn(state, actor));
    if ("ok" in agent) throw new RollcallError(agent.code, agent.reason);
    if (this.#isClosed) throw closing();
    if (signal.aborted) throw signal.reason;
    const shared = { limit: this.#maxWaiting, noun: "calls that wait for a task" };
    checkShare(shared, wishOf(this.#holdings, actor.by.principal.name));
    return new Promise((resolve, reject) => {
      this.#add({ actor, tools: agent.agent.card.tools, signal, resolve, reject });
      if (this.#watch) this.#serve();
      else void this.#follow();
    });
  }

  /** The same without waiting: null when no task fits now. */
  async claimNow(actor: Actor, signal: AbortSignal): Promise<Task | null> {
    const { agentId, by } = actor;
    const task = await this.#engine.execute({ type: "task.claim", agentId }, by);
    if (!signal.aborted) return task;
    if (task) this.#giveBack(actor, task);
    throw signal.reason;
  }

  /** Null when no task fits within that time; 0 does not wait. */
  async claimWithin(actor: Actor, { waitMs, clock, signal }: Wait): Promise<Task | null> {
    if (waitMs === 0) return this.claimNow(actor, signal);
    const over = new AbortController();
    const leave = () => over.abort(signal.reason);
    const timeUp = new RollcallError("DEADLINE_EXCEEDED", `no task within ${waitMs} ms`);
    const cancel = clock.after(waitMs, () => over.abort(timeUp));
    signal.addEventListener("abort", leave, { once: true });
    if (signal.aborted) leave();
    try {
      return await this.claim(actor, over.signal);
    } catch (error) {
      if (error === timeUp) return null;
      throw error;
    } finally {
      cancel();
      signal.removeEventListener("abort", leave);
    }
  }

  /** Idempotent; rejects all waiters. */
  close(): void {
    this.#isClosed = true;
    this.#watch?.close();
    this.#failAll(closing());
  }

  #add(call: {
    readonly actor: Actor;
    readonly tools: readonly string[];
    readonly signal: AbortSignal;
    readonly resolve: (task: Task) => void;
    readonly reject: (error: unknown) => void;
  }): void {
    const { actor, signal } = call;
    const { agentId, by } = actor;
    const line = this.#lineOf(call.tools);
    let isAnswered = false;
    const answer = () => {
      if (isAnswered) return false;
      isAnswered = true;
      signal.removeEventListener("abort", onAbort);
      this.#remove(waiter);
      return true;
    };
    const give = (task: Task) => {
      if (!answer()) return false;
      call.resolve(task);
      return true;
    };
    const fail = (error: unknown) => {
      if (answer()) call.reject(error);
    };
    const onAbort = () => fail(signal.reason);
    this.#arrivals += 1;
    const arrival = this.#arrivals;
    const waiter: WaitingClaim = { agentId, by, line, arrival, slot: undefined, give, fail };
    line.members += 1;
    queue(waiter);
    this.#holdings.add(by.principal.name);
    const calls = this.#byAgent.get(agentId) ?? new Set();
    this.#byAgent.set(agentId, calls.add(waiter));
    signal.addEventListener("abort", onAbort, { once: true });
  }

  #remove(waiter: WaitingClaim): void {
    const { line, agentId, by } = waiter;
    unqueue(waiter);
    line.members -= 1;
    if (line.members === 0) this.#lines.delete(line.name);
    this.#holdings.remove(by.principal.name);
    const calls = this.#byAgent.get(agentId);
    calls?.delete(waiter);
    if (calls?.size === 0) this.#byAgent.delete(agentId);
  }

  #lineOf(tools: readonly string[]): Line {
    const sorted = [...new Set(tools)].toSorted();
    const name = sorted.join("\n");
    const found = this.#lines.get(name);
    if (found) return found;
    const line: Line = { name, tools: sorted, waiting: new Heap(), members: 0, isHeld: false };
    this.#lines.set(name, line);
    return line;
  }

  /** Claims for every waiter that a waiting task fits. */
  #serve(): void {
    for (let next = this.#oldestThatFits(); next; next = this.#oldestThatFits()) {
      void this.#ask(next);
    }
  }

  #oldestThatFits(): WaitingClaim | undefined {
    return this.#engine.peek(({ tasks }) => {
      if (tasks.pending.size === 0) return undefined;
      let oldest: WaitingClaim | undefined;
      for (const { tools, waiting, isHeld } of this.#lines.values()) {
        const first = waiting.first();
        if (!first || isHeld || (oldest && oldest.arrival < first.arrival)) continue;
        if (tasks.pending.firstFor(tools) !== undefined) oldest = first;
      }
      return oldest;
    });
  }

  async #ask(waiter: WaitingClaim): Promise<void> {
    const { agentId, by, line } = waiter;
    const firstTask = () => this.#engine.peek(({ tasks }) => tasks.pending.firstFor(line.tools));
    const wakeups = this.#wakeups;
    const wanted = firstTask();
    unqueue(waiter);
    const asked = this.#engine.execute({ type: "task.claim", agentId }, by);
    // A leader has decided by now. On a follower the next waiter would ask for the same task.
    const isHolding = firstTask() === wanted;
    if (isHolding) line.isHeld = true;
    let isWorthAnother = true;
    try {
      const task = await asked;
      if (task && !waiter.give(task)) this.#giveBack(waiter, task);
      if (!task) {
        // It has lost no time: back to its place.
        if (this.#byAgent.get(agentId)?.has(waiter)) queue(waiter);
        isWorthAnother = wakeups !== this.#wakeups;
      }
    } catch (error) {
      waiter.fail(error);
    }
    if (isHolding) line.isHeld = false;
    if (isWorthAnother) this.#serve();
  }

  /** As if it had never been claimed. */
  #giveBack({ agentId, by }: Actor, { id: taskId, token }: Task): void {
    const given = this.#engine.execute({ type: "task.return", taskId, agentId, token }, by);
    // Lost already, or nobody can write: either way the claim will not last.
    given.catch(() => undefined);
  }

  /** From the first call on until the engine closes. */
  async #follow(): Promise<void> {
    while (!this.#isClosed) {
      try {
        this.#watch = this.#engine.watch({ prefixes: TOPICS });
      } catch (error) {
        this.#watch = undefined;
        this.#failAll(error);
        return;
      }
      await this.#hear(this.#watch);
    }
  }

  async #hear(watch: Watch): Promise<void> {
    try {
      for (let items: readonly WatchItem[] = ANEW; items.length > 0; items = await watch.pull()) {
        this.#wakeups += 1;
        for (const item of items) this.#failDead(item);
        this.#serve();
      }
    } catch {
      // Cut, or the log cannot be read: nothing is missed by looking at everything anew.
    } finally {
      watch.close();
    }
  }

  /** The calls of an agent that died; of all that did, when not every event was heard. */
  #failDead(item: WatchItem): void {
    if (item.kind === "event") {
      const { event } = item.recorded;
      if (event.type === "agent.died") this.#failCalls(event.agent.agentId);
      return;
    }
    for (const agentId of this.#byAgent.keys()) {
      if (this.#engine.peek((state) => "ok" in livingAgent(state, agentId)))
        this.#failCalls(agentId);
    }
  }

  #failCalls(agentId: string): void {
    const error = new RollcallError("NOT_FOUND", `agent ${agentId} is dead`);
    for (const waiter of this.#byAgent.get(agentId) ?? []) waiter.fail(error);
  }

  #failAll(error: unknown): void {
    for (const calls of this.#byAgent.values()) {
      for (const waiter of calls) waiter.fail(error);
    }
  }
}

/** As if the place in the log were lost: look at everything. */
const ANEW: readonly WatchItem[] = [{ kind: "resync", sequence: 0 }];

function queue(waiter: WaitingClaim): void {
  waiter.slot = waiter.line.waiting.add(waiter.arrival, waiter);
}

function unqueue({ line, slot }: WaitingClaim): void {
  if (slot) line.waiting.remove(slot);
}
