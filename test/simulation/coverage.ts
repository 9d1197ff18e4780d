/**
 * What must have happened in enough lives: every trouble and fault, every command, every event. A
 * new command or event does not compile until it is named here, and fails until clients cause it.
 */
import { COMMANDS } from "../../src/core/commands.ts";
import type { Topic } from "../../src/core/events.ts";
import { TROUBLES } from "./profile.ts";

/** How many lives are enough to expect it all. */
export const ENOUGH_LIVES = 300;

/** Come a month after something else, which only one in hundreds of lives has. */
const RARE: readonly Topic[] = ["outpost.forgotten", "token.forgotten"];
const ENOUGH_FOR_RARE = 20_000;

export const EVENTS: Record<Topic, true> = {
  "agent.registered": true,
  "agent.bound": true,
  "agent.unreachable": true,
  "agent.recovered": true,
  "agent.died": true,
  "agent.forgotten": true,
  "lease.acquired": true,
  "lease.renewed": true,
  "lease.released": true,
  "lease.expired": true,
  "election.joined": true,
  "election.left": true,
  "election.forgotten": true,
  "leader.changed": true,
  "policy.set": true,
  "policy.deleted": true,
  "task.created": true,
  "task.claimed": true,
  "task.renewed": true,
  "task.completed": true,
  "task.requeued": true,
  "task.returned": true,
  "task.died": true,
  "task.cancelled": true,
  "task.expired": true,
  "task.forgotten": true,
  "fleet.reported": true,
  "fleet.forgotten": true,
  "fleet.dismissed": true,
  "question.asked": true,
  "question.answered": true,
  "question.withdrawn": true,
  "question.expired": true,
  "question.dismissed": true,
  "question.forgotten": true,
  "outpost.joined": true,
  "outpost.took": true,
  "outpost.silent": true,
  "outpost.forgotten": true,
  "outpost.job_told": true,
  "outpost.jobs_forgotten": true,
  "job.submitted": true,
  "job.started": true,
  "job.cancelling": true,
  "job.ended": true,
  "job.moved": true,
  "job.imported": true,
  "job.progressed": true,
  "job.forgotten": true,
  "session.opened": true,
  "session.resumed": true,
  "session.proved": true,
  "session.gone": true,
  "session.subscribed": true,
  "session.unsubscribed": true,
  "credential.requested": true,
  "credential.issued": true,
  "credential.revoked": true,
  "token.created": true,
  "token.revoked": true,
  "token.forgotten": true,
  "directory.registered": true,
  "directory.changed": true,
  "directory.refreshed": true,
  "directory.verified": true,
  "directory.doubted": true,
  "directory.evicted": true,
  "directory.removed": true,
  "node.leading": true,
  "node.resumed": true,
  "node.resigned": true,
  "node.joined": true,
  "node.left": true,
  "node.finalized": true,
  "request.answered": true,
};

/** Kinds of entries in the streams of jobs. */
const ENTRIES = ["input", "log", "metric", "budget", "progress", "status", "delegate", "end"];

const FAULTS = [
  ...TROUBLES,
  "step down",
  "drift",
  "append refused",
  "answer to append lost",
  "answer to append too late",
  "append arrives late",
  "un-synced tail lost",
  "un-synced tail kept",
  "log unreachable",
  "open failed",
  "read failed",
  "follow failed",
  "snapshot not loaded",
  "snapshot cut half-way",
  "truncation failed",
  "message delayed",
  "message dropped",
  "message duplicated",
  "message cut off",
];

const SEEN = [
  "append repeated",
  "closed",
  "fenced",
  "forwarded",
  "follower compared",
  "linearizable",
  "outcome unknown",
  "snapshot",
  "truncation",
  "watch event",
  "watch bookmark",
  "watch resync",
];

/** What never happened in so many lives. */
export function missing(counts: ReadonlyMap<string, number>, lives: number): string[] {
  const rare = lives < ENOUGH_FOR_RARE ? RARE.map((name) => `event: ${name}`) : [];
  const expected = [
    ...Object.keys(COMMANDS).map((name) => `command: ${name}`),
    ...Object.keys(EVENTS).map((name) => `event: ${name}`),
    ...ENTRIES.map((name) => `stream: ${name}`),
    ...FAULTS.map((name) => `fault: ${name}`),
    ...SEEN.map((name) => `seen: ${name}`),
    "command: read",
  ];
  return expected.filter((name) => !counts.has(name) && !rare.includes(name));
}
