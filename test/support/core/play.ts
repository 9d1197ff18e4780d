/**
 * Random life over few agents, keys and groups, for properties: a step is four small numbers, so
 * that a failing life shrinks well and can be played again from what the failure prints.
 */
import type { Event } from "../../../src/core/events.ts";
import type { Command } from "../../../src/core/rules.ts";
import {
  attachSomebody,
  KeptBudgets,
  saySomething,
  someCredentialCommand,
  someJobCommand,
  someSessionCommand,
  someSubmit,
  spendSomething,
} from "./jobs.ts";
import { someDirectoryCommand } from "./directory.ts";
import { someMemberCommand } from "./members.ts";
import { someReport } from "./reports.ts";
import { someTokenCommand } from "./tokens.ts";
import { LIBRARY, namedBy } from "../../../src/core/by.ts";
import { card, DAY, SECOND, taskCreate, World } from "./fixture.ts";

/** Every number may be anything from 0 to 255. */
export type Step = readonly [move: number, who: number, what: number, how: number];

export interface Played {
  readonly world: World;
  /** What the streams of jobs would have of their budgets. */
  readonly budgets: KeptBudgets;
  /** What was asked, if it was a command. */
  readonly command: Command | undefined;
  readonly events: readonly Event[];
}

const AGENTS_AT_ONCE = 5;
const TTLS = [0, SECOND, 3 * SECOND, 20 * SECOND];
const PAUSES = [1, 400, SECOND, 2 * SECOND, 7 * SECOND, 40 * SECOND, DAY, DAY + SECOND, 31 * DAY];
const TOOLS = ["browser", "shell", "sql"];

/** The owner mostly, and an agent that is nobody's operator. */
const CALLERS = [LIBRARY, LIBRARY, namedBy("token:ci", "http")];

/** Plays all steps, in a new world unless one is given; `check` looks after each. */
export function play(
  steps: readonly Step[],
  check: (played: Played) => void = () => {},
  world = new World(),
): World {
  const budgets = new KeptBudgets();
  for (const step of steps) {
    let command: Command | undefined;
    const events = world.eventsOf(() => {
      command = commandOf(world, step);
      // Heartbeats and the passing of time are the machine's own.
      world.by = command ? pick(CALLERS, step[1] + step[3]) : LIBRARY;
      if (command) attempt(world, command);
      else happen(world, step);
    });
    budgets.keep(world.state);
    check({ world, budgets, command, events });
  }
  return world;
}

/** A refusal is a fine answer here. */
function attempt(world: World, command: Command): void {
  const decision = world.decide(command);
  if (decision.ok) world.record(decision.events);
}

type Move = (world: World, by: string, step: Step) => Command;

/** What is there more than once comes more often. */
const MOVES: readonly (Move | "time" | "beats" | "node" | "jobs")[] = [
  registration,
  registration,
  (_, agentId) => ({ type: "agent.heartbeat", agentId }),
  (_, agentId) => ({ type: "agent.deregister", agentId }),
  acquisition,
  acquisition,
  (world, agentId, [, , what, how]) => ({
    type: "lease.renew",
    taskId: keyOf(what),
    agentId,
    token: tokenOf(world, what, how),
    ttlMs: pick(TTLS, how),
  }),
  (world, agentId, [, , what, how]) => ({
    type: "lease.release",
    taskId: keyOf(what),
    agentId,
    token: tokenOf(world, what, how),
  }),
  campaigning,
  campaigning,
  (_, agentId, [, , what]) => ({ type: "election.resign", group: groupOf(what), agentId }),
  (_, __, [, who, what, how]) => ({
    type: "policy.set",
    policy: {
      id: `p${what % 4}`,
      subject: pick(["agent:a", "agent:*", "*"], who),
      action: pick(["call", "*"], how),
      resource: pick(["tool:x", "tool:*", "*x"], what + how),
      effect: how % 2 === 0 ? "allow" : "deny",
    },
  }),
  (_, __, [, , what]) => ({ type: "policy.delete", id: `p${what % 4}` }),
  creation,
  creation,
  claiming,
  claiming,
  claiming,
  (world, agentId, [, , what]) => ({
    type: "task.renew",
    taskId: claimOf(world, agentId, what),
    agentId,
  }),
  (world, agentId, [, , what, how]) => ({
    type: "task.complete",
    taskId: claimOf(world, agentId, what),
    agentId,
    output: "b3V0".repeat(how % 3),
  }),
  (world, agentId, [, , what]) => ({
    type: "task.fail",
    taskId: claimOf(world, agentId, what),
    agentId,
    reason: "tired",
  }),
  (world, _, [, , what]) => ({ type: "task.cancel", taskId: someTask(world, what), reason: "" }),
  (world, agentId, [, , what]) => {
    const taskId = claimOf(world, agentId, what);
    return { type: "task.return", taskId, agentId, token: world.task(taskId)?.token ?? 0 };
  },
  (world, _, [, who, what, how]) => ({
    type: "fleet.report",
    report: someReport({ who, what, order: world.nowMs + how - 128 }),
  }),
  (world, _, [, who, what]) => ({
    type: "fleet.report",
    report: someReport({ who, what, order: world.nowMs }),
  }),
  (_, __, [, who]) => ({ type: "fleet.forget", alias: `test:${who % 4}` }),
  dismissal,
  submission,
  submission,
  submission,
  submission,
  jobCommand,
  jobCommand,
  jobCommand,
  jobCommand,
  sessionCommand,
  sessionCommand,
  (world, _, [, who, what, how]) => someCredentialCommand(world.state, { who, what, how }),
  (_, __, [, who, what, how]) => someTokenCommand({ who, what, how }),
  (_, __, [, who, what, how]) => someMemberCommand({ who, what, how }),
  "jobs",
  "jobs",
  directoryCommand,
  directoryCommand,
  directoryCommand,
  "time",
  "time",
  "beats",
  "beats",
  "beats",
  "node",
];

function submission(world: World, _: string, [, who, what, how]: Step): Command {
  return someSubmit(world, { who, what, how });
}

function jobCommand(world: World, _: string, [, who, what, how]: Step): Command {
  return someJobCommand(world.state, { who, what, how });
}

function sessionCommand(world: World, _: string, [, who, what, how]: Step): Command {
  return someSessionCommand(world.state, { who, what, how });
}

function directoryCommand(_: World, __: string, [, who, what, how]: Step): Command {
  return someDirectoryCommand({ who, what, how });
}

function commandOf(world: World, step: Step): Command | undefined {
  const move = pick(MOVES, step[0]);
  if (typeof move === "string") return undefined;
  const agents = recentAgents(world);
  return move(world, agents[step[1] % (agents.length || 1)] ?? "nobody", step);
}

function happen(world: World, [move, who, what, how]: Step): void {
  switch (pick(MOVES, move)) {
    case "time":
      if (who % 2 === 0) world.pass(pick(PAUSES, how));
      else world.oversleep(pick(PAUSES, how));
      return;
    case "beats":
      // Most say that they are here, one may stay silent.
      for (const [i, agentId] of recentAgents(world).entries()) {
        if (i !== how % AGENTS_AT_ONCE && world.status(agentId) !== "dead") world.beat(agentId);
      }
      world.pass(pick([100, 900, SECOND], who));
      return;
    case "node":
      if (who % 2 === 0) world.lead(`n${how % 3}`);
      else world.record([{ type: "node.resumed", node: "n1", unseenMs: how * SECOND }]);
      return;
    case "jobs":
      saySomething(world, { who, what, how });
      if (how % 2 === 0) spendSomething(world, { who, what, how });
      else attachSomebody(world.state, { who, what, how }, world.nowMs);
      return;
  }
}

/** The last to register, living or dead: dead ones ask for things, too. */
function recentAgents(world: World): string[] {
  return [...world.state.agents.byId.keys()].slice(-AGENTS_AT_ONCE);
}

function registration(_: World, __: string, [, who, , how]: Step): Command {
  const tools = TOOLS.filter((_tool, i) => (who >> i) % 2 === 1);
  return { type: "agent.register", card: card({ tools }), ttlMs: pick(TTLS, how) };
}

function acquisition(_: World, agentId: string, [, , what, how]: Step): Command {
  return { type: "lease.acquire", taskId: keyOf(what), agentId, ttlMs: pick(TTLS, how) };
}

function campaigning(_: World, agentId: string, [, , what]: Step): Command {
  return { type: "election.campaign", group: groupOf(what), agentId };
}

function creation(_: World, __: string, [, who, what, how]: Step): Command {
  const requiredTools = TOOLS.filter((_tool, i) => (what >> i) % 4 === 1);
  const input = "aW4=".repeat(who % 3);
  const pendingTtlMs = who % 2 === 0 ? 0 : pick(TTLS, what);
  const about = { requiredTools, input, maxRetries: how % 3, ttlMs: pick(TTLS, how) };
  return taskCreate({ ...about, pendingTtlMs });
}

function someTask({ state }: World, what: number): string {
  return pick([...state.tasks.byId.keys(), "none"], what);
}

function dismissal({ state }: World, _: string, [, who, what, how]: Step): Command {
  return how % 2 === 0
    ? { type: "fleet.dismiss", aliases: [`test:${who % 4}`] }
    : { type: "question.dismiss", id: pick([...state.questions.byId.keys(), "none"], what) };
}

function claiming(_: World, agentId: string): Command {
  return { type: "task.claim", agentId };
}

function keyOf(what: number): string {
  return `key-${what % 3}`;
}

function groupOf(what: number): string {
  return `group-${what % 3}`;
}

/** Mostly the current token, sometimes an older one. */
function tokenOf({ state }: World, what: number, how: number): number {
  const token = state.leases.byTask.get(keyOf(what))?.lease.token ?? 0;
  return how % 5 === 0 ? token - 1 : token;
}

/** A task of the agent, or else any. */
function claimOf({ state }: World, agentId: string, what: number): string {
  const own = [...state.tasks.byClaimer.of(agentId)];
  const ids = own.length > 0 ? own : [...state.tasks.byId.keys()];
  return ids[what % (ids.length || 1)] ?? "none";
}

function pick<T>(from: readonly T[], at: number): T {
  const picked = from[at % from.length];
  if (picked === undefined) throw new Error("nothing to pick from");
  return picked;
}
