/** What clients do as outposts: several may believe that they speak for one host. */
import type { SentJob } from "../../src/core/host-jobs.ts";
import type { Command } from "../../src/core/rules.ts";
import { someReport } from "../support/core/reports.ts";
import type { Beliefs } from "./beliefs.ts";
import type { Random } from "./random.ts";

interface Position {
  readonly random: Random;
  readonly beliefs: Beliefs;
}

/** Few, so that clients meet. */
const HOSTS = ["host-1", "host-2"] as const;

export const OUTPOST_MOVES: readonly (readonly [
  weight: number,
  (position: Position) => Command | undefined,
])[] = [
  [3, joining],
  [8, taking],
  [1, (position) => ofSession(position, "outpost.beat")],
  [1, (position) => ofSession(position, "outpost.leave")],
];

function joining({ random }: Position): Command {
  const host = random.pick(HOSTS);
  const instance = `instance-${random.between(1, 2)}`;
  const facts = { instance, machine: host, version: "1", share: "all", accept: "nothing" } as const;
  // Reports of this test count from 0.
  return { type: "outpost.join", host, facts, clockMs: 0 };
}

function taking({ random, beliefs }: Position): Command | undefined {
  if (beliefs.outposts.size === 0) return undefined;
  const [host, outpost] = random.pick([...beliefs.outposts]);
  const to = String(Number(outpost.cursor) + 1);
  const picked = someReport({ who: random.between(0, 3), what: random.between(0, 255), order: 0 });
  const { ttlMs: _, ...report } = {
    ...picked,
    alias: picked.alias.replace(":", `@${host}:`),
    agentId: `${picked.agentId}@${host}`,
    links: [],
    facts: { ...picked.facts, goal: to },
  };
  const { session, cursor: from } = outpost;
  const gone = random.chance(0.1) ? [report.alias.replace(/\d$/, "3")] : [];
  const jobs = random.chance(0.3) ? [someJob(random)] : [];
  const jobsGone = random.chance(0.05) ? [`job_${random.between(0, 3)}@${host}`] : [];
  const told = { reports: [report], gone, jobs, jobsGone };
  return { type: "outpost.take", host, session, from, to, ...told };
}

const STATUSES = ["pending", "running", "success", "error"] as const;

function someJob(random: Random): SentJob {
  const status = random.pick(STATUSES);
  const endedAtMs = status === "success" || status === "error" ? 2 : 0;
  const times = { submittedAtMs: 1, startedAtMs: status === "pending" ? 0 : 1, endedAtMs };
  const about = {
    agent: "echo",
    principal: "local",
    parent: "",
    restarts: 0,
    code: "",
    reason: "",
  };
  return { id: `job_${random.between(0, 3)}`, status, ...about, ...times };
}

function ofSession(
  { random, beliefs }: Position,
  type: "outpost.beat" | "outpost.leave",
): Command | undefined {
  if (beliefs.outposts.size === 0) return undefined;
  const [host, { session }] = random.pick([...beliefs.outposts]);
  return { type, host, session };
}
