/** The moves of a client that are about jobs, sessions and credentials. */
import type { JobEnding } from "../../src/core/job-rules.ts";
import type { LeaseRequest } from "../../src/core/jobs/lease.ts";
import type { Command } from "../../src/core/rules.ts";
import type { Session } from "../../src/core/sessions.ts";
import { oldJob, sessionDefaults } from "../support/core/jobs.ts";
import type { Beliefs, Names } from "./beliefs.ts";
import type { Random } from "./random.ts";

const PRINCIPALS = ["ann", "bob"];
const LEASES: readonly LeaseRequest[] = [
  {},
  { "agent.delegate": ["*"] },
  { "cost.budget": ["USD:5"], "agent.delegate": ["*"] },
  { "cost.budget": ["USD:2"] },
];
const ENDINGS: readonly JobEnding["status"][] = ["success", "error"];

export interface JobPosition {
  readonly random: Random;
  readonly beliefs: Beliefs;
  readonly known: Names;
}

type JobMove = (position: JobPosition) => Command | undefined;

/** How often, and what. */
export const JOB_MOVES: readonly (readonly [weight: number, JobMove])[] = [
  [5, submission],
  [3, ({ random, known }) => cancellation(random, known)],
  [2, ({ random, known }) => ending(random, known)],
  [4, sessionMove],
  [1.5, ({ random, known }) => credentialMove(random, known)],
  [0.4, importation],
];

function submission({ random, beliefs, known }: JobPosition): Command {
  const isKeyed = random.chance(0.2);
  return {
    type: "job.submit",
    jobId: `job_${random.id()}`,
    agent: random.pick(["mortal", "phoenix"]),
    principal: random.pick(PRINCIPALS),
    // Jobs run where they are decided; now and then a client is wrong about that.
    node: random.chance(0.9) ? known.leader() : random.pick(known.nodes),
    session: random.chance(0.5) ? (beliefs.sessions.at(-1)?.id ?? "") : "",
    parent: random.chance(0.15) ? lately(random, known.jobIds) : "",
    lease: random.pick(LEASES),
    traceId: "",
    ...(random.chance(0.3) && { maxRuntimeSec: random.between(1, 6) }),
    ...(isKeyed && { key: random.pick(["a", "b", "c"]), fingerprint: random.pick(["1", "2"]) }),
  };
}

function cancellation(random: Random, known: Names): Command {
  const scope = random.pick(["session", "principal"] as const);
  const from = { session: "", scope };
  const reason = `enough ${random.id()}`;
  const jobId = lately(random, known.jobIds);
  return { type: "job.cancel", jobId, reason, ...(random.chance(0.5) && { from }) };
}

/** As a daemon ends the job of an agent that is not its own. */
function ending(random: Random, known: Names): Command {
  const status = random.pick(ENDINGS);
  const reason = `ended ${random.id()}`;
  const jobId = lately(random, known.jobIds);
  return { type: "job.end", jobId, ending: { status, code: "", reason } };
}

function sessionMove({ random, beliefs, known }: JobPosition): Command | undefined {
  const { sessions, followed } = beliefs;
  const jobId = known.jobIds.at(-1) ?? "job_none";
  const resumed = sessions.find(({ tokenHashBefore }) => tokenHashBefore !== "");
  if (resumed && random.chance(0.4)) return { type: "session.prove", sessionId: resumed.id };
  if (followed && random.chance(0.3)) return { ...followed, type: "session.unsubscribe" };
  if (sessions.length === 0 || random.chance(0.3)) {
    const sessionId = `sess_${random.id()}`;
    return { ...sessionDefaults(), sessionId, principal: random.pick(PRINCIPALS) };
  }
  const session = random.pick(sessions);
  if (random.chance(0.6)) return resumption(random, session);
  const after = random.between(0, 9);
  return { type: "session.subscribe", sessionId: session.id, jobId, after };
}

/** With the token it last heard of, or the one before. */
function resumption(random: Random, session: Session): Command {
  const { id: sessionId, principal, client, profile, features } = session;
  return {
    type: "session.resume",
    sessionId,
    principal,
    client,
    profile,
    features,
    tokenHash: random.chance(0.8) ? session.tokenHash : session.tokenHashBefore,
    newTokenHash: random.id(),
    isUnproven: random.chance(0.3),
    isKept: random.chance(0.9),
  };
}

function credentialMove(random: Random, known: Names): Command {
  const jobId = known.jobIds.at(-1) ?? "job_none";
  const type = random.pick(["credential.request", "credential.issue", "credential.revoke"]);
  if (type === "credential.issue") return { type, jobId, ids: [random.id()] };
  return { type: type === "credential.request" ? type : "credential.revoke", jobId };
}

/** Twice the same is one. */
function importation({ random }: JobPosition): Command {
  const id = `job_old_${random.between(1, 3)}`;
  if (random.chance(0.5)) return { type: "job.import", job: oldJob({ id, session: "" }) };
  const { type: _, ...terms } = sessionDefaults();
  const session = { ...terms, id: `sess_${id}`, openedAtMs: 1, tokenHashBefore: "" };
  const subscriptions = [{ sessionId: session.id, jobId: id, after: 1 }];
  return { type: "session.import", session, subscriptions };
}

function lately(random: Random, ids: readonly string[]): string {
  return ids.length === 0 ? "job_none" : random.pick(ids.slice(-6));
}
