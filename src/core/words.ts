/**
 * Events in words, for people: who, what, and the number that matters, most telling first. A new
 * kind of event does not compile until it has its sentence here.
 *
 * Names and keys are as agents chose them: the caller cleans a sentence before it shows it.
 */
import { deathReason } from "./death.ts";
import type { Event, Topic } from "./events.ts";
import type { JobProgress } from "./job-progress.ts";
import type { Job, JobStep } from "./jobs.ts";
import { isGone } from "./questions.ts";
import type { Report } from "./reports.ts";
import { UNCLAIMED } from "./task-evolution.ts";

/** The events with this topic: some share their shape with others. */
type EventOf<T extends Topic, E = Event> = E extends { readonly type: infer Types }
  ? T extends Types
    ? E
    : never
  : never;

type Sentences = { readonly [T in Topic]: (event: EventOf<T>) => string };

/** The name of an agent, where it is known. */
export type NameOf = (agentId: string) => string | undefined;

/** Nothing for an event of a newer program, which has no sentence here. */
export function sentenceOf(event: Event, nameOf: NameOf): string | undefined {
  const sentences = sentencesFor(nameOf);
  if (!Object.hasOwn(sentences, event.type)) return undefined;
  // The topic picked the sentence, so the event is of its kind.
  return (sentences[event.type] as (event: Event) => string)(event);
}

/** A generated id by its first characters, as git does; one that people chose in full. */
export function shortId(id: string): string {
  return /^[0-9a-f]{32}$/.test(id) ? id.slice(0, 8) : id;
}

/** The same for every id in a text. */
export function withShortIds(text: string): string {
  return text.replace(/\b[0-9a-f]{32}\b/g, shortId);
}

function sentencesFor(nameOf: NameOf): Sentences {
  const who = (id: string) => {
    const name = nameOf(id);
    return name ? `${name} (${shortId(id)})` : shortId(id);
  };
  return {
    "agent.registered": ({ agent }) =>
      `${who(agent.agentId)} is here, ttl ${shortDuration(agent.ttlMs)}` +
      listed(", tools", agent.card.tools),
    "agent.bound": ({ agentId }) => `${who(agentId)} is bound to its key`,
    "agent.unreachable": ({ agent }) =>
      `${who(agent.agentId)} missed its heartbeat of ${shortDuration(agent.ttlMs)}`,
    "agent.recovered": ({ agent }) => `${who(agent.agentId)} is back`,
    "agent.died": ({ agent, cause }) =>
      cause === "silent" ? `${who(agent.agentId)} is dead: silent` : `${who(agent.agentId)} left`,
    "agent.forgotten": ({ agentId }) => `${who(agentId)} is forgotten`,
    "lease.acquired": ({ lease }) =>
      `${lease.taskId} held by ${who(lease.holder)} for ${shortDuration(lease.ttlMs)}, ` +
      `token ${lease.token}`,
    "lease.renewed": ({ lease }) =>
      `${lease.taskId} kept by ${who(lease.holder)} for ${shortDuration(lease.ttlMs)}, ` +
      `token ${lease.token}`,
    "lease.expired": ({ lease }) => `${lease.taskId} is free: ${who(lease.holder)} let it expire`,
    "lease.released": ({ lease, cause }) =>
      cause === "released"
        ? `${lease.taskId} is free: ${who(lease.holder)} released it`
        : `${lease.taskId} is free: ${who(lease.holder)} is gone`,
    "election.joined": ({ group, agentId }) => `${group}: ${who(agentId)} stands for election`,
    "election.left": ({ group, agentId }) => `${group}: ${who(agentId)} no longer stands`,
    "leader.changed": ({ election }) =>
      election.leader
        ? `${election.group}: ${who(election.leader)} leads, term ${election.term}`
        : `${election.group}: no leader, term ${election.term}`,
    "election.forgotten": ({ group }) => `${group} is forgotten`,
    "policy.set": ({ policy }) =>
      `${policy.id}: ${policy.effect} ${policy.subject} to ${policy.action} ${policy.resource}`,
    "policy.deleted": ({ id }) => `${id} is deleted`,
    "task.created": ({ task }) =>
      `${shortId(task.id)} ${task.type} waits` + listed(" for tools", task.requiredTools),
    "task.claimed": ({ taskId, claim }) =>
      `${shortId(taskId)} taken by ${who(claim.agentId)}, token ${claim.token}`,
    "task.renewed": ({ taskId }) => `${shortId(taskId)} is still worked on`,
    "task.completed": ({ taskId, agentId }) => `${shortId(taskId)} done by ${who(agentId)}`,
    "task.requeued": ({ taskId, agentId, reason }) =>
      reason === deathReason(agentId)
        ? `${shortId(taskId)} waits again: ${who(agentId)} died`
        : `${shortId(taskId)} waits again, ${who(agentId)} gave it up: ${reason}`,
    "task.returned": ({ taskId, agentId }) =>
      `${shortId(taskId)} waits again: the call of ${who(agentId)} ended too early to get it`,
    "task.died": ({ taskId, agentId, reason }) =>
      `${shortId(taskId)} is dead, last with ${who(agentId)}: ${withShortIds(reason)}`,
    "task.cancelled": ({ taskId, agentId, reason }) =>
      `${shortId(taskId)} was cancelled` +
      (agentId === "" ? "" : `, ${who(agentId)} worked on it`) +
      (reason === "" ? "" : `: ${reason}`),
    "task.expired": ({ taskId }) => `${shortId(taskId)} is dead: ${UNCLAIMED}`,
    "task.forgotten": ({ taskId }) => `${shortId(taskId)} is forgotten`,
    "fleet.reported": ({ report }) => reportWords(report),
    "fleet.forgotten": ({ alias }) => `${alias} is forgotten`,
    "fleet.dismissed": ({ alias }) => `${alias} was dismissed`,
    "question.asked": ({ question }) => `${question.agentId} asks: ${question.text}`,
    "question.answered": ({ question }) =>
      `${question.agentId} goes on, was asked: ${question.text}`,
    "question.withdrawn": ({ question }) => `${question.agentId} no longer asks: ${question.text}`,
    "question.expired": ({ question }) =>
      `${question.agentId} is gone, had asked: ${question.text}`,
    "question.dismissed": ({ question }) =>
      `the question of ${question.agentId} was dismissed: ${question.text}`,
    "question.forgotten": ({ id }) => `question ${shortId(id)} is forgotten`,
    "outpost.joined": ({ outpost }) =>
      `${outpost.host} reports here from ${outpost.machine}, shares ${outpost.share}, ` +
      `accepts ${outpost.accept}`,
    "outpost.took": ({ host, cursor }) => `${host} is taken up to ${cursor}`,
    "outpost.silent": ({ host, cause }) =>
      cause === "left" ? `${host} left: its daemon was stopped` : `${host} is silent`,
    "outpost.forgotten": ({ host }) => `${host} is forgotten`,
    "outpost.job_told": ({ job }) => `${job.id} on ${job.agent}: ${job.status}`,
    "outpost.jobs_forgotten": ({ jobIds }) => `${jobIds.length} jobs are forgotten`,
    "job.submitted": ({ job }) => `${job.id} for ${job.agent}, by ${job.principal}`,
    "job.started": ({ job }) =>
      `${job.id} runs on ${job.agent}${job.restarts ? `, again (${job.restarts})` : ""}`,
    "job.cancelling": ({ job }) => `${job.id} is being cancelled: ${job.cancelReason ?? ""}`,
    "job.moved": ({ job, from }) => `${job.id} goes on at ${job.node}: ${from} is gone`,
    "job.ended": ({ job }) => jobEndWords(job),
    "job.imported": ({ job }) => `${job.id} was imported from a file of an older version`,
    "job.progressed": ({ jobId, progress }) => `${jobId} ${progressWords(progress)}`,
    "job.forgotten": ({ jobId, others = [] }) =>
      others.length > 0
        ? `${jobId} and ${others.length} other jobs are forgotten`
        : `${jobId} is forgotten`,
    "session.opened": ({ session }) => `${session.client} opened ${session.id}`,
    "session.resumed": ({ session }) => `${session.client} resumed ${session.id}`,
    "session.proved": ({ sessionId }) => `the client of ${sessionId} has its new token`,
    "session.gone": ({ sessionId }) => `${sessionId} is gone: it was not resumed in time`,
    "session.subscribed": ({ sessionId, jobId }) => `${sessionId} follows ${jobId}`,
    "session.unsubscribed": ({ sessionId, jobId }) => `${sessionId} no longer follows ${jobId}`,
    "credential.requested": ({ credential }) => `credentials for ${credential.jobId} are requested`,
    "credential.issued": ({ credential }) => `credentials for ${credential.jobId} are issued`,
    "credential.revoked": ({ jobId }) => `the credentials of ${jobId} are revoked`,
    "token.created": ({ token }) =>
      `${token.name} is a token for ${token.role}, for ` +
      shortDuration(token.expiresAtMs - token.createdAtMs),
    "token.revoked": ({ token }) => `${token.name} is revoked`,
    "token.forgotten": ({ name }) => `${name} is forgotten`,
    "directory.registered": ({ entry }) =>
      `${entry.url} is registered${every(entry.intervalMs)}, by ${entry.source}`,
    "directory.changed": ({ entry }) =>
      entry.waiting
        ? `${entry.url} sent another card, not yet verified`
        : `${entry.url} sends its known card again`,
    "directory.refreshed": ({ entry }) => `${entry.url} (${entry.tier})${every(entry.intervalMs)}`,
    "directory.verified": ({ entry }) => `${entry.url} is verified: ${entry.tier}`,
    "directory.doubted": ({ entry }) =>
      `${entry.url} is not verified: ${entry.verification?.reason ?? ""}`,
    "directory.evicted": ({ url }) => `${url} is removed: its heartbeats stopped`,
    "directory.removed": ({ url }) => `${url} was removed`,
    "node.leading": ({ node, epoch }) => `${node} leads, epoch ${epoch}`,
    "node.resumed": ({ node, unseenMs }) => `${node} is back after ${shortDuration(unseenMs)}`,
    "node.resigned": ({ node }) => `${node} no longer leads: it closes`,
    "node.joined": ({ member }) => `${member.node} is a member, at ${member.address}`,
    "node.left": ({ node, cause }) => `${node} is no longer a member: ${LEAVINGS[cause]}`,
    "node.finalized": ({ format }) => `the log is in format ${format}: no older program reads it`,
    "request.answered": ({ name }) => `a retry gets this answer: ${name}`,
  };
}

function reportWords({ agentId, facts }: Report): string {
  const { liveness, activity, question } = facts;
  if (isGone(liveness.value)) {
    const ended = liveness.value === "dead" ? "is dead" : liveness.value;
    return `${agentId} ${ended}: ${liveness.rule}`;
  }
  if (question) return `${agentId} waits for a person`;
  const doing = activity === undefined || activity.value === "unknown" ? "" : `, ${activity.value}`;
  const what = activity?.message ?? activity?.task;
  return `${agentId} is ${liveness.value}${doing}${what ? `: ${what}` : ""}`;
}

function progressWords({ activity, percent, phase }: JobProgress): string {
  const far = percent === undefined ? "" : `, ${percent} %`;
  return `is ${activity.value}${phase === undefined ? "" : ` (${phase})`}${far}`;
}

const LEAVINGS = { left: "it was stopped", removed: "an operator gave it up", silent: "silent" };

const ENDINGS: Readonly<Partial<Record<Job["status"], string>>> = {
  success: "is done",
  error: "failed",
  cancelled: "was cancelled",
  timed_out: "ran out of time",
};

function jobEndWords({ id, agent, status, code, reason, ...times }: JobStep): string {
  const { startedAtMs = 0, endedAtMs = 0 } = times;
  const took =
    startedAtMs > 0 ? ` after ${shortDuration(Math.max(0, endedAtMs - startedAtMs))}` : "";
  const why = [code, reason].filter(Boolean).join(", ");
  return `${id} of ${agent} ${ENDINGS[status] ?? "is over"}${took}${why ? `: ${why}` : ""}`;
}

function every(intervalMs: number): string {
  return intervalMs === 0
    ? ", no heartbeat expected"
    : `, heartbeat every ${shortDuration(intervalMs)}`;
}

function listed(title: string, items: readonly string[]): string {
  return items.length === 0 ? "" : `${title} ${items.join(", ")}`;
}

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
] as const;

/** In its largest unit, with one digit behind the point where that says more. */
export function shortDuration(durationMs: number): string {
  for (const [unit, sizeMs] of UNITS) {
    if (durationMs >= sizeMs) return `${Number((durationMs / sizeMs).toFixed(1))}${unit}`;
  }
  return `${Math.round(durationMs)}ms`;
}
