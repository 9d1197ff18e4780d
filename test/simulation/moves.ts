/** What a client may want next, drawn from what it believes; sometimes from what it should not. */
import type { AgentCard } from "../../src/core/agents.ts";
import type { Lease } from "../../src/core/leases.ts";
import type { Command } from "../../src/core/rules.ts";
import type { State } from "../../src/core/state.ts";
import { fingerprint } from "../../src/core/snapshot.ts";
import { someDirectoryCommand } from "../support/core/directory.ts";
import { someMemberCommand } from "../support/core/members.ts";
import { someReport } from "../support/core/reports.ts";
import { someTokenCommand } from "../support/core/tokens.ts";
import type { Task } from "../../src/core/tasks.ts";
import type { Beliefs, Names } from "./beliefs.ts";
import type { Ask } from "./history.ts";
import { JOB_MOVES } from "./job-moves.ts";
import { OUTPOST_MOVES } from "./outpost-moves.ts";
import type { Random } from "./random.ts";

interface Position {
  readonly random: Random;
  readonly beliefs: Beliefs;
  readonly known: Names;
  /** Who acts: mostly one of its own agents. */
  readonly agentId: string;
}

/** A command, whose caller is yet to be found, or a read. */
export type Move = Command | (Ask & { readonly kind: "read" });

type MoveOf = (position: Position) => Move | undefined;

const CARD: AgentCard = {
  name: "worker",
  description: "",
  version: "1",
  capabilities: [],
  tools: [],
  metadata: {},
};

const TTLS_MS = [1000, 2000, 4000, 10_000, 0];

/** Tells a task that was given up from one that was lost. */
export const FAIL_REASON = "tired";

/** How often, and what. */
const MOVES: readonly (readonly [weight: number, MoveOf])[] = [
  [3, ({ random, known }) => registration(random, known)],
  [2, ({ agentId }) => ({ type: "agent.deregister", agentId })],
  [
    18,
    ({ random, known, agentId }) => ({
      type: "lease.acquire",
      taskId: random.pick(known.keys),
      agentId,
      ttlMs: random.pick(TTLS_MS),
    }),
  ],
  [
    10,
    ({ random, beliefs }) => {
      const lease = lately(random, beliefs.leases);
      return lease && { type: "lease.renew", ...held(lease), ttlMs: random.pick(TTLS_MS) };
    },
  ],
  [
    10,
    ({ random, beliefs }) => {
      const lease = lately(random, beliefs.leases);
      return lease && { type: "lease.release", ...held(lease) };
    },
  ],
  [
    2,
    ({ random, known, agentId }) => ({
      type: "lease.release",
      taskId: random.pick(known.keys),
      agentId,
      token: random.between(1, 40),
    }),
  ],
  [
    9,
    ({ random, known, agentId }) => ({
      type: "election.campaign",
      group: random.pick(known.groups),
      agentId,
    }),
  ],
  [
    6,
    ({ random, known, agentId }) => ({
      type: "election.resign",
      group: random.pick(known.groups),
      agentId,
    }),
  ],
  [4, ({ random, known }) => policy(random, known)],
  [3, ({ random, known }) => ({ type: "policy.delete", id: random.pick(known.policies) })],
  [9, ({ random, known }) => creation(random, known)],
  [12, ({ agentId }) => ({ type: "task.claim", agentId })],
  [2, cancelling],
  [4, withClaim(({ task, agentId }) => ({ type: "task.renew", taskId: task.id, agentId }))],
  [
    6,
    withClaim(({ task, agentId }) => ({
      type: "task.complete",
      taskId: task.id,
      agentId,
      token: task.token,
      output: "b3V0",
    })),
  ],
  [
    5,
    withClaim(({ task, agentId }) => ({
      type: "task.fail",
      taskId: task.id,
      agentId,
      token: task.token,
      reason: FAIL_REASON,
    })),
  ],
  [
    4,
    withClaim(({ task, agentId }) => ({
      type: "task.return",
      taskId: task.id,
      agentId,
      token: task.token,
    })),
  ],
  [6, ({ random, known }) => reporting(random, known)],
  [1, ({ random }) => ({ type: "fleet.forget", alias: `test:${random.between(0, 3)}` })],
  [1, ({ random }) => ({ type: "fleet.dismiss", aliases: [`test:${random.between(0, 3)}`] })],
  [2, dismissal],
  ...JOB_MOVES,
  ...OUTPOST_MOVES,
  [8, ({ random }) => someDirectoryCommand(smallNumbers(random))],
  [2, ({ random }) => someTokenCommand(smallNumbers(random))],
  [2, ({ random }) => someMemberCommand(smallNumbers(random))],
  [22, reading],
];

const TOTAL_WEIGHT = MOVES.reduce((sum, [weight]) => sum + weight, 0);

/** The next thing to ask for; undefined when nothing came to mind. */
export function nextMove(
  { random, beliefs, known }: Omit<Position, "agentId">,
  readShare: number,
): Move | undefined {
  if (beliefs.agents.size === 0) return registration(random, known);
  if (readShare > 0 && random.chance(readShare)) return reading({ random, known });
  const own = [...beliefs.agents.keys()];
  const others = known.agentIds.length > 0 ? known.agentIds : ["nobody"];
  const agentId = random.chance(0.04) ? random.pick(others) : random.pick(own);
  let left = random.fraction() * TOTAL_WEIGHT;
  for (const [weight, move] of MOVES) {
    left -= weight;
    if (left < 0) return move({ random, beliefs, known, agentId });
  }
  return undefined;
}

function registration(random: Random, known: Names): Command {
  const tools = known.tools.filter(() => random.chance(0.6));
  const card = { ...CARD, tools };
  const keyHash = random.chance(0.3) ? random.id() : undefined;
  return { type: "agent.register", card, ttlMs: random.pick(TTLS_MS), keyHash };
}

function policy(random: Random, known: Names): Command {
  const effect = random.pick(["allow", "deny"] as const);
  const resource = `tool:${random.between(1, 99)}`;
  const id = random.pick(known.policies);
  return { type: "policy.set", policy: { id, subject: "*", action: "call", resource, effect } };
}

function creation(random: Random, known: Names): Command {
  return {
    type: "task.create",
    taskType: "scrape",
    input: "aW4=",
    requiredTools: known.tools.filter(() => random.chance(0.2)),
    maxRetries: random.between(0, 2),
    ttlMs: random.pick(TTLS_MS),
    ...(random.chance(0.3) && { pendingTtlMs: random.pick(TTLS_MS) }),
  };
}

function cancelling({ random, known }: Position): Command | undefined {
  const taskId = lately(random, known.taskIds);
  return taskId === undefined ? undefined : { type: "task.cancel", taskId, reason: "" };
}

function dismissal({ random, known }: Position): Command | undefined {
  const id = lately(random, known.questionIds);
  return id === undefined ? undefined : { type: "question.dismiss", id };
}

function reporting(random: Random, known: Names): Command {
  const order = known.taskIds.length + random.between(0, 3);
  const picked = { who: random.between(0, 255), what: random.between(0, 255), order };
  return { type: "fleet.report", report: someReport(picked) };
}

function smallNumbers(random: Random) {
  const small = () => random.between(0, 255);
  return { who: small(), what: small(), how: small() };
}

/** The latest mostly, an old one now and then. */
function lately<T>(random: Random, from: readonly T[]): T | undefined {
  return from.length === 0 || random.chance(0.7) ? from.at(-1) : random.pick(from);
}

function held({ taskId, holder, token }: Lease) {
  return { taskId, agentId: holder, token };
}

function withClaim(make: (claim: { task: Task; agentId: string }) => Command): MoveOf {
  return ({ random, beliefs, agentId }) => {
    const task = lately(random, beliefs.claims);
    return task && make({ task, agentId: random.chance(0.9) ? task.claimedBy : agentId });
  };
}

const READ = ["lease", "lease", "group", "task", "job", "policy", "fingerprint"] as const;

function reading({ random, known }: Pick<Position, "random" | "known">): Read {
  const noun = random.pick(READ);
  switch (noun) {
    case "lease": {
      const key = random.pick(known.keys);
      return read(noun, key, (state) => {
        const lease = state.leases.byTask.get(key)?.lease;
        return lease ? { holder: lease.holder, token: lease.token } : null;
      });
    }
    case "group": {
      const key = random.pick(known.groups);
      return read(noun, key, (state) => {
        const entry = state.elections.byGroup.get(key);
        if (!entry) return null;
        const { leader, term } = entry.election;
        return { leader, term, candidates: [...entry.candidates] };
      });
    }
    case "task": {
      const key = lately(random, known.taskIds) ?? "none";
      return read(noun, key, (state) => {
        const task = state.tasks.byId.get(key)?.task;
        if (!task) return null;
        const { status, claimedBy, token, retryCount } = task;
        return { status, claimedBy, token, retryCount };
      });
    }
    case "job": {
      const key = lately(random, known.jobIds) ?? "none";
      return read(noun, key, (state) => {
        const job = state.jobs.byId.get(key)?.job;
        return job ? { status: job.status, isCancelled: job.cancelReason !== undefined } : null;
      });
    }
    case "policy": {
      const key = random.pick(known.policies);
      const select = ({ policies }: Pick<State, "policies">) =>
        JSON.stringify(policies.byId.get(key)?.resource ?? null);
      return { kind: "read", noun, key, select };
    }
    case "fingerprint":
      return {
        kind: "read",
        noun,
        key: "",
        select(state) {
          known.questionIds = [...state.questions.openOf.values()];
          return fingerprint(state);
        },
      };
  }
}

type Read = Ask & { readonly kind: "read" };

function read(
  noun: Exclude<Read["noun"], "policy">,
  key: string,
  select: (state: State) => unknown,
): Read {
  return { kind: "read", noun, key, select: (state) => JSON.stringify(select(state)) };
}
