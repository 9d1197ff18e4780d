/**
 * A small world for tests of the rules: a clock that stands still until told, ids one can read, and
 * everything that happened kept as the log would keep it.
 */
import { beat, type AgentCard } from "../../../src/core/agents.ts";
import type { Decision, Moment } from "../../../src/core/decide.ts";
import { seeEntry } from "../../../src/core/directory.ts";
import {
  decode,
  encode,
  type Event,
  type RecordedEvent,
  type Topic,
} from "../../../src/core/events.ts";
import type { SubmitCommand } from "../../../src/core/job-submit.ts";
import { jobDefaults, sessionDefaults } from "./jobs.ts";
import type { Job } from "../../../src/core/jobs.ts";
import { leading } from "../../../src/core/nodes.ts";
import { rules, type Command, type Reply, type ReplyTo } from "../../../src/core/rules.ts";
import { fingerprint } from "../../../src/core/snapshot.ts";
import { emptyState, type State } from "../../../src/core/state.ts";
import type { TaskCommand } from "../../../src/core/tasks.ts";
import { Observers } from "../../../src/engine/observer.ts";
import { LIBRARY, type By } from "../../../src/core/by.ts";

/** An arbitrary morning. */
export const START_MS = 1_700_000_000_000;

export const SECOND = 1000;
export const DAY = 24 * 3600 * SECOND;

/** Views of a world begin with what it is when they come. */
function observed(world: World): Observers {
  const observers = new Observers();
  observers.attach({
    observers,
    get state() {
      return world.state;
    },
    get head() {
      return world.history.length;
    },
  });
  return observers;
}

export class World {
  readonly state: State = emptyState();
  /** All that happened, as the log keeps it. */
  readonly texts: string[] = [];
  readonly history: Event[] = [];
  /** The views that are kept beside the state. */
  readonly observers = observed(this);
  nowMs = START_MS;
  /** The caller of all commands. */
  by: By = LIBRARY;
  #ids = 0;
  #jobs = 0;

  moment(): Moment {
    return {
      nowMs: this.nowMs,
      by: this.by,
      newId: () => {
        this.#ids += 1;
        return this.#ids.toString(16).padStart(32, "0");
      },
    };
  }

  decide(command: Command): Decision<Event, Reply> {
    return rules.decide(this.state, command, this.moment());
  }

  /** Does what must succeed. */
  run<C extends Command>(command: C): ReplyTo<C> {
    const decision = this.decide(command);
    if (!decision.ok) throw new Error(`${decision.code}: ${decision.reason}`);
    this.record(decision.events);
    if (command.type === "directory.heartbeat") seeEntry(this.state, command.url, this.nowMs);
    return decision.reply as ReplyTo<C>;
  }

  /** Asks for what must be refused: "CODE: reason". Nothing may have changed. */
  refusal(command: Command): string {
    const before = fingerprint(this.state);
    const decision = this.decide(command);
    if (decision.ok) throw new Error(`${command.type} was not refused`);
    if (fingerprint(this.state) !== before) throw new Error(`${command.type} changed something`);
    return `${decision.code}: ${decision.reason}`;
  }

  record(events: readonly Event[]): void {
    for (const event of events) {
      this.observers.before(event, this.state);
      rules.evolve(this.state, event, this.nowMs);
      this.texts.push(encode(event, this.nowMs, this.by));
      this.history.push(event);
    }
  }

  /** What happened in `act`, by topic. */
  topicsOf(act: () => unknown): Topic[] {
    return this.eventsOf(act).map(({ type }) => type);
  }

  eventsOf(act: () => unknown): Event[] {
    const from = this.history.length;
    act();
    return this.history.slice(from);
  }

  /** Time goes by under an engine that looks at every deadline the moment it falls. */
  pass(ms: number): void {
    const untilMs = this.nowMs + ms;
    for (;;) {
      const dueMs = rules.due(this.state);
      if (dueMs === undefined || dueMs > untilMs) break;
      this.nowMs = Math.max(this.nowMs, dueMs);
      this.record(rules.expire(this.state, this.nowMs));
    }
    this.nowMs = untilMs;
  }

  /** Time goes by under an engine that looks only afterwards. */
  oversleep(ms: number): void {
    this.nowMs += ms;
    this.pass(0);
  }

  /** A heartbeat as the engine takes it. */
  beat(agentId: string): void {
    if (beat(this.state, agentId, this.nowMs)) this.observers.heard(agentId);
    else this.run({ type: "agent.heartbeat", agentId });
  }

  /** Another node takes over. */
  lead(node = "n1"): void {
    this.record([leading(this.state, node)]);
  }

  recorded(): RecordedEvent[] {
    return this.texts.map((text, i) => decode(text, i + 1));
  }

  register(options: { readonly ttlMs?: number; readonly tools?: readonly string[] } = {}): string {
    const { ttlMs = 10 * SECOND, tools = [] } = options;
    return this.run({ type: "agent.register", card: card({ tools }), ttlMs }).agentId;
  }

  status(agentId: string): string | undefined {
    return this.state.agents.byId.get(agentId)?.agent.status;
  }

  acquire(agentId: string, taskId: string, ttlMs = 5 * SECOND): ReplyTo<Acquire> {
    return this.run({ type: "lease.acquire", taskId, agentId, ttlMs });
  }

  campaign(agentId: string, group: string): ReplyTo<Campaign> {
    return this.run({ type: "election.campaign", group, agentId });
  }

  create(options: Partial<Create> = {}): string {
    return this.run(taskCreate(options)).id;
  }

  claim(agentId: string): string | undefined {
    return this.run({ type: "task.claim", agentId })?.id;
  }

  task(taskId: string): ReturnType<typeof taskOf> {
    return taskOf(this.state, taskId);
  }

  /** An order under an id of its own; ids grow. */
  order(fields: Partial<SubmitCommand> = {}): SubmitCommand {
    this.#jobs += 1;
    const jobId = `job_${String(this.#jobs).padStart(4, "0")}`;
    return { ...jobDefaults(), jobId, ...fields };
  }

  /** The id of a job that was accepted. */
  submit(fields: Partial<SubmitCommand> = {}): string {
    return this.run(this.order(fields)).job.id;
  }

  job(jobId: string): Job | undefined {
    return this.state.jobs.byId.get(jobId)?.job;
  }

  open(sessionId: string, fields: Partial<Open> = {}): void {
    this.run({ ...sessionDefaults(), sessionId, ...fields });
  }
}

type Acquire = Command & { readonly type: "lease.acquire" };
type Campaign = Command & { readonly type: "election.campaign" };
type Create = TaskCommand & { readonly type: "task.create" };
type Open = Command & { readonly type: "session.open" };

function taskOf(state: State, taskId: string) {
  return state.tasks.byId.get(taskId)?.task;
}

export function card(fields: Partial<AgentCard> = {}): AgentCard {
  return {
    name: "scraper-1",
    description: "Fetches and parses web pages",
    version: "1.0.0",
    capabilities: [],
    tools: [],
    metadata: {},
    ...fields,
  };
}

export function taskCreate(fields: Partial<Create> = {}): Create {
  return {
    type: "task.create",
    taskType: "scrape",
    input: "",
    requiredTools: [],
    maxRetries: 0,
    ttlMs: 5 * SECOND,
    ...fields,
  };
}

/** The state that the log gives. */
export function replayed(recorded: readonly RecordedEvent[], state: State = emptyState()): State {
  for (const { event, atMs } of recorded) rules.evolve(state, event, atMs);
  return state;
}
