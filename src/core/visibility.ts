/**
 * The rows that a principal may see. Everything has an owner, and the owner is the key of its row:
 *
 *   viewer, operator, admin    the rows of every owner
 *   all others                 their own rows, and what is shared
 *
 * Shared is what agents find each other and take turns by: the registry, the directory, leases (but
 * for their tokens: fencing.ts), elections and policies. Reports, questions, tasks, jobs and
 * sessions are not. A task is shown to its creator, and to the owner of the agent that claimed it.
 *
 * The rule is a key and not a predicate, so that rows can be kept and found by it. (There is one
 * namespace so far; a key will begin with it.)
 */
import { ownerOf, type RecordedBy } from "./by.ts";
import { byOfEvent, type Event, type RecordedEvent } from "./events.ts";
import type { Principal, Role } from "./principals.ts";
import type { State } from "./state.ts";
import type { Task } from "./tasks.ts";

/** The owner whose rows are seen; none for those of every owner. */
export interface Sight {
  readonly owner: string | undefined;
}

export const EVERYTHING: Sight = { owner: undefined };

const SEE_EVERYTHING: readonly Role[] = ["viewer", "operator", "admin"];

export function sightOf({ name, roles }: Pick<Principal, "name" | "roles">): Sight {
  return roles.some((role) => SEE_EVERYTHING.includes(role)) ? EVERYTHING : { owner: name };
}

interface OwnedRow {
  readonly owner?: string | undefined;
}

/** Nothing is seen only where everything is. */
export function sees({ owner }: Sight, row: OwnedRow | undefined): boolean {
  return owner === undefined || (row !== undefined && ownerOf(row) === owner);
}

/** A job belongs to the principal that it is done for. */
export function seesJob(
  { owner }: Sight,
  job: { readonly principal: string } | undefined,
): boolean {
  return owner === undefined || job?.principal === owner;
}

export function seesTask(sight: Sight, state: State, task: Task | undefined): boolean {
  return sees(sight, task) || (task !== undefined && seesAgent(sight, state, task.claimedBy));
}

function seesAgent(sight: Sight, { agents }: State, agentId: string): boolean {
  return sees(sight, agents.byId.get(agentId)?.agent);
}

/** The caller that an event came of, where it is the one that looks, or may see everybody. */
export function callerSeen({ owner }: Sight, recorded: RecordedEvent): RecordedBy | undefined {
  const by = byOfEvent(recorded);
  return owner === undefined || by?.principal === owner ? by : undefined;
}

/**
 * Whether an event is shown. One that does not say whose its subject is, and whose subject is gone,
 * is shown only to those that see everything.
 */
export function seesEvent(sight: Sight, state: State, event: Event): boolean {
  if (sight.owner === undefined) return true;
  const job = (id: string) => seesJob(sight, state.jobs.byId.get(id)?.job);
  const session = (id: string) => seesJob(sight, state.sessions.byId.get(id)?.session);
  const task = (id: string) => seesTask(sight, state, state.tasks.byId.get(id)?.task);
  switch (event.type) {
    case "agent.registered":
    case "agent.bound":
    case "agent.unreachable":
    case "agent.recovered":
    case "agent.died":
    case "agent.forgotten":
    case "lease.acquired":
    case "lease.renewed":
    case "lease.expired":
    case "lease.released":
    case "election.joined":
    case "election.left":
    case "election.forgotten":
    case "leader.changed":
    case "policy.set":
    case "policy.deleted":
    case "directory.registered":
    case "directory.changed":
    case "directory.verified":
    case "directory.doubted":
    case "directory.refreshed":
    case "directory.evicted":
    case "directory.removed":
    case "node.leading":
    case "node.resumed":
    case "node.resigned":
    case "node.joined":
    case "node.left":
    case "node.finalized":
      return true;
    case "task.created":
      return sees(sight, event.task);
    case "task.claimed":
      return task(event.taskId) || seesAgent(sight, state, event.claim.agentId);
    case "task.completed":
    case "task.requeued":
    case "task.died":
    case "task.returned":
    case "task.cancelled":
      return task(event.taskId) || seesAgent(sight, state, event.agentId);
    case "task.renewed":
    case "task.expired":
    case "task.forgotten":
      return task(event.taskId);
    case "fleet.reported":
      return sees(sight, event.report);
    case "question.asked":
    case "question.answered":
    case "question.withdrawn":
    case "question.expired":
    case "question.dismissed":
      return sees(sight, event.question);
    case "job.submitted":
    case "job.started":
    case "job.cancelling":
    case "job.moved":
    case "job.ended":
    case "job.imported":
      return seesJob(sight, event.job);
    case "job.progressed":
      return job(event.jobId);
    case "session.opened":
    case "session.resumed":
      return seesJob(sight, event.session);
    case "session.proved":
    case "session.subscribed":
    case "session.unsubscribed":
      return session(event.sessionId);
    case "credential.requested":
    case "credential.issued":
      return job(event.credential.jobId);
    case "credential.revoked":
      return job(event.jobId);
    case "outpost.joined":
    case "outpost.took":
    case "outpost.silent":
    case "outpost.forgotten":
    case "outpost.job_told":
    case "outpost.jobs_forgotten":
    case "fleet.forgotten":
    case "fleet.dismissed":
    case "question.forgotten":
    case "job.forgotten":
    case "session.gone":
    case "token.created":
    case "token.revoked":
    case "token.forgotten":
    case "request.answered":
      return false;
  }
}
