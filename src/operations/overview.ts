/**
 * The state of the daemon in one answer that fits a screen. For people who look at a page, so it is
 * bounded whatever the state holds: numbers of everything, and the newest few.
 *
 * It is made to be asked for again when the event stream stirs, which needs no care about what was
 * missed: each answer stands by itself and holds everything up to its `sequence`.
 */
import { z } from "zod";
import type { By } from "../core/by.ts";
import { eventFor, leaseFor } from "../core/fencing.ts";
import { asSeen } from "../core/agents.ts";
import type { GroupEntry } from "../core/elections.ts";
import type { RecordedEvent } from "../core/events.ts";
import type { State } from "../core/state.ts";
import type { Task } from "../core/tasks.ts";
import { sentenceOf } from "../core/words.ts";
import type { Engine } from "../engine/engine.ts";
import { countsOf as countsOfRows } from "../fleet/census.ts";
import { ANY, type FleetFilters } from "../fleet/filters.ts";
import type { FleetPage } from "../fleet/fleet.ts";
import { HEADLINES } from "../fleet/headline.ts";
import { AGENT_SHAPE } from "./agents.ts";
import { ELECTION } from "./elections.ts";
import { COUNTS, ROW_SHAPE } from "./fleet-shapes.ts";
import { moment, SOME_ID, text, whole } from "./fields.ts";
import { listsOf, type KeptLists } from "./kept-lists.ts";
import { LEASE_SHAPE } from "./leases.ts";
import { settleLists } from "./lists.ts";
import { OVERVIEW } from "./limits.ts";
import {
  operation,
  type Answer,
  type OperationCall,
  type OperationServices,
  type Uses,
} from "./operation.ts";
import { mayList, shownTo } from "./sight.ts";
import { TASK_ROW } from "./task-shapes.ts";

const WHO = z.strictObject({
  agentId: z.string().meta({ examples: [SOME_ID] }),
  name: text("Empty for one that is forgotten", "scraper-1"),
});

const QUEUED = z.strictObject({
  id: TASK_ROW.shape.id,
  type: TASK_ROW.shape.type,
  requiredTools: TASK_ROW.shape.requiredTools,
  createdAtMs: TASK_ROW.shape.createdAtMs,
  retryCount: TASK_ROW.shape.retryCount,
  maxRetries: TASK_ROW.shape.maxRetries,
});

const OUTPUT = z.strictObject({
  sequence: whole("Everything up to this place in the log is in it"),
  atMs: moment("When it was made"),
  counts: z.strictObject({
    alive: z.int(),
    unreachable: z.int(),
    leases: z.int(),
    leaders: z.int(),
    pending: z.int(),
    claimed: z.int(),
    completed: z.int(),
    dead: z.int(),
    waiting: whole("Calls that wait for a task"),
  }),
  fleet: z
    .strictObject({
      counts: COUNTS,
      total: whole("How many are here"),
      rows: z.array(
        ROW_SHAPE.pick({
          id: true,
          name: true,
          headline: true,
          why: true,
          workspace: true,
          sinceMs: true,
        }),
      ),
    })
    .describe("The agents that are here, of all wires; those that need a person first"),
  agents: z
    .array(
      WHO.extend({
        status: AGENT_SHAPE.shape.status,
        tools: z.array(z.string()),
        ttlMs: AGENT_SHAPE.shape.ttlMs,
        registeredAtMs: AGENT_SHAPE.shape.registeredAtMs,
        lastHeartbeatAtMs: AGENT_SHAPE.shape.lastHeartbeatAtMs,
      }),
    )
    .describe("The living of the registry: those that are unreachable first, then the newest"),
  leases: z
    .array(
      LEASE_SHAPE.pick({ taskId: true, token: true, acquiredAtMs: true, expiresAtMs: true }).extend(
        {
          holder: WHO,
        },
      ),
    )
    .describe("The newest first"),
  leaders: z
    .array(
      ELECTION.pick({ group: true, term: true, electedAtMs: true }).extend({
        leader: WHO,
        candidates: z.int(),
      }),
    )
    .describe("Of groups that have one; the newest first"),
  pending: z.array(QUEUED).describe("Tasks that wait, the oldest first"),
  claimed: z
    .array(QUEUED.extend({ by: WHO, claimedAtMs: TASK_ROW.shape.claimedAtMs }))
    .describe("Tasks that are worked on, the claim that ends first before the others"),
  events: z
    .array(
      z.strictObject({
        sequence: z.int(),
        atMs: moment("When"),
        topic: z.string(),
        text: z.string(),
      }),
    )
    .describe(
      "What the caller may read of the last things that happened, in words, the newest first",
    ),
});

export type Overview = Answer<typeof OUTPUT>;

type OverviewServices = Uses<"engine" | "clock"> & {
  readonly fleet: Pick<OperationServices["fleet"], "page">;
  readonly claims: Pick<OperationServices["claims"], "waiting">;
};

export const overview = operation({
  path: "/v1/overview",
  effect: "reads",
  access: { action: "overview.read", resource: "daemon:overview" },
  brief: "Show the state in one screen",
  about:
    "The state of the daemon in one answer that fits a screen: how many of everything, and the " +
    "newest few. Ask again when the event stream says that something happened.",
  input: z.strictObject({}),
  output: OUTPUT,
  run: overviewOf,
});

async function overviewOf(
  { engine, fleet, claims, clock }: OverviewServices,
  _: object,
  { by }: OperationCall,
): Promise<Overview> {
  const here = fleetOf(await fleet.page(HERE, { limit: OVERVIEW.rows }));
  const lists = listsOf(engine);
  const { living, recentLeases, recentLeaders } = lists;
  await settleLists(engine, living, recentLeases, recentLeaders);
  const { sequence, ...known } = await engine.read((state) => {
    for (const list of [living, recentLeases, recentLeaders]) list.update(state);
    return {
      sequence: engine.head,
      counts: { ...countsOf(state), waiting: claims.waiting },
      agents: agentsOf(state, lists),
      leases: leasesOf(state, lists, by),
      leaders: leadersOf(state, lists),
      ...tasksOf(state),
    };
  });
  const isShown = shownTo(engine, by.principal) ?? (() => true);
  const recorded = (await lastEvents(engine, sequence)).filter(({ event }) => isShown(event));
  const made = {
    sequence,
    atMs: clock.wallMs(),
    fleet: here,
    ...known,
    events: engine.peek((state) =>
      recorded.toReversed().map((each) => told(state, eventFor(each, by))),
    ),
  };
  const denied = KINDS.filter((kind) => !mayList(engine, by.principal, kind));
  return denied.reduce(without, made);
}

/** Of each kind of things, what an overview tells a caller that may not list them. */
const BLANKS = {
  fleet: { fleet: { counts: countsOfRows([]), total: 0, rows: [] } },
  agent: { agents: [], counts: { alive: 0, unreachable: 0 } },
  lease: { leases: [], counts: { leases: 0 } },
  election: { leaders: [], counts: { leaders: 0 } },
  task: {
    pending: [],
    claimed: [],
    counts: { pending: 0, claimed: 0, completed: 0, dead: 0, waiting: 0 },
  },
} as const;

const KINDS = Object.keys(BLANKS) as readonly (keyof typeof BLANKS)[];

function without(made: Overview, kind: keyof typeof BLANKS): Overview {
  const { counts = {}, ...blank }: Partial<Omit<Overview, "counts">> & { counts?: object } =
    BLANKS[kind];
  return { ...made, ...blank, counts: { ...made.counts, ...counts } };
}

/** Neither gone, nor silent for long. */
const HERE: FleetFilters = { ...ANY, headline: HEADLINES.filter((each) => each !== "GONE") };

function fleetOf({ rows, counts, total }: FleetPage): Overview["fleet"] {
  return {
    counts,
    total,
    rows: rows.map(({ id, name, headline, why, workspace, sinceMs }) => ({
      id,
      name,
      headline,
      why: why.slice(0, OVERVIEW.textLength),
      workspace,
      sinceMs,
    })),
  };
}

function countsOf({ agents, leases, elections, tasks }: State) {
  return {
    alive: agents.deadlines.size - agents.unreachable.size,
    unreachable: agents.unreachable.size,
    leases: leases.byTask.size,
    leaders: elections.byGroup.size - elections.empty.size,
    pending: tasks.pending.size,
    claimed: tasks.claims.size,
    completed: tasks.finished.size - tasks.dead,
    dead: tasks.dead,
  };
}

function agentsOf(state: State, { living }: KeptLists): Overview["agents"] {
  const { byId, unreachable } = state.agents;
  const alive = living.newest(state, OVERVIEW.rows, ({ agent }) => agent.status === "alive");
  const lost = Array.from(unreachable).slice(-OVERVIEW.rows).reverse();
  const found = lost.flatMap((agentId) => byId.get(agentId) ?? []);
  return [...found, ...alive].slice(0, OVERVIEW.rows).map((entry) => {
    const { card, agentId, status, ttlMs, registeredAtMs, lastHeartbeatAtMs } = asSeen(entry);
    const tools = card.tools.slice(0, OVERVIEW.tools);
    const { name } = card;
    return { agentId, name, status, tools, ttlMs, registeredAtMs, lastHeartbeatAtMs };
  });
}

function leasesOf(state: State, { recentLeases }: KeptLists, by: By): Overview["leases"] {
  return recentLeases.newest(state, OVERVIEW.rows).map(({ lease }) => {
    const { taskId, token, acquiredAtMs, expiresAtMs } = leaseFor(lease, by);
    return { taskId, token, acquiredAtMs, expiresAtMs, holder: who(state, lease.holder) };
  });
}

function leadersOf(state: State, { recentLeaders }: KeptLists): Overview["leaders"] {
  const hasLeader = ({ election }: GroupEntry) => election.leader !== "";
  const led = recentLeaders.newest(state, OVERVIEW.rows, hasLeader);
  return led.map(({ election, candidates }) => {
    const { group, term, electedAtMs } = election;
    const leader = who(state, election.leader);
    return { group, term, electedAtMs, leader, candidates: candidates.size };
  });
}

function tasksOf(state: State): Pick<Overview, "pending" | "claimed"> {
  const { byId, pending, claims } = state.tasks;
  const taskOf = (taskId: string) => byId.get(taskId)?.task ?? [];
  return {
    pending: pending.oldest(OVERVIEW.rows).flatMap(taskOf).map(queued),
    claimed: first(claims.inOrder())
      .flatMap(taskOf)
      .map((task) => ({
        ...queued(task),
        by: who(state, task.claimedBy),
        claimedAtMs: task.claimedAtMs,
      })),
  };
}

function queued(task: Task): Answer<typeof QUEUED> {
  const { id, type, createdAtMs, retryCount, maxRetries } = task;
  const requiredTools = task.requiredTools.slice(0, OVERVIEW.tools);
  return { id, type, requiredTools, createdAtMs, retryCount, maxRetries };
}

function who(state: State, agentId: string): Answer<typeof WHO> {
  return { agentId, name: nameOf(state, agentId) ?? "" };
}

function nameOf({ agents }: State, agentId: string): string | undefined {
  return agents.byId.get(agentId)?.agent.card.name;
}

function first<T>(all: Iterable<T>): T[] {
  const kept: T[] = [];
  for (const each of all) {
    if (kept.length >= OVERVIEW.rows) break;
    kept.push(each);
  }
  return kept;
}

/** The last events up to a sequence; fewer where the log does not reach back so far. */
async function lastEvents(engine: Engine, sequence: number): Promise<readonly RecordedEvent[]> {
  for (let count: number = OVERVIEW.events; count >= 1; count = Math.floor(count / 2)) {
    const events = await eventsBetween(engine, Math.max(0, sequence - count), sequence);
    if (events.length > 0) return events;
  }
  return [];
}

/** The events after `from` up to `to`; none when the log no longer has them. */
async function eventsBetween(engine: Engine, from: number, to: number): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  const watch = engine.watch({ from });
  try {
    for (let items = await watch.pull(); items.length > 0; items = await watch.pull()) {
      for (const item of items) {
        if (item.kind !== "event") return events;
        if (item.recorded.sequence <= to) events.push(item.recorded);
        if (item.recorded.sequence >= to) return events;
      }
    }
    return events;
  } finally {
    watch.close();
  }
}

function told(state: State, { sequence, atMs, event }: RecordedEvent): Overview["events"][number] {
  const said = sentenceOf(event, (agentId) => nameOf(state, agentId)) ?? "";
  return { sequence, atMs, topic: event.type, text: said.slice(0, OVERVIEW.textLength) };
}
