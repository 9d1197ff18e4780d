/**
 * What must hold in any state between two commands, checked the slow way: every index against a
 * scan, every timer against what it guards. For tests and the simulator.
 */
import type { State } from "../../../src/core/state.ts";
import { jobProblems, sessionProblems } from "./audit-jobs.ts";
import { shareProblems } from "./audit-shares.ts";
import { sizeProblem, timerProblems } from "./audit-timers.ts";
import { memberProblems } from "./members.ts";
import { tokenProblems } from "./tokens.ts";
import { byRegistration, lengthOf, type DirectoryEntry } from "../../../src/core/directory.ts";
import { COUNT, RETENTION } from "../../../src/core/limits.ts";
import { isGone } from "../../../src/core/questions.ts";
import { mayFallSilent, silentAtMs } from "../../../src/core/reports.ts";

/** What is wrong, one sentence each; nothing when all is well. */
export function audit(state: State): string[] {
  return [
    ...agentProblems(state),
    ...leaseProblems(state),
    ...groupProblems(state),
    ...taskProblems(state),
    ...shareProblems(state),
    ...reportProblems(state),
    ...questionProblems(state),
    ...jobProblems(state),
    ...sessionProblems(state),
    ...directoryProblems(state),
    ...tokenProblems(state),
    ...memberProblems(state),
  ];
}

function reportProblems({ reports, graceFromMs }: State): string[] {
  const problems: string[] = [];
  let over = 0;
  let silences = 0;
  for (const [alias, { report, timer, silence }] of reports.byAlias) {
    if (report.alias !== alias) problems.push(`${alias} is filed under another name`);
    if (!reports.byAgent.of(report.agentId).has(alias)) problems.push(`byAgent lacks ${alias}`);
    for (const link of report.links) {
      if (!reports.linked.of(link).has(alias)) problems.push(`linked lacks ${link} of ${alias}`);
    }
    if (mayFallSilent(report)) {
      silences += 1;
      const atMs = silentAtMs(report, graceFromMs);
      problems.push(...timerProblems(`silence of ${alias}`, silence, atMs));
    }
    if (!isGone(report.facts.liveness.value)) continue;
    over += 1;
    const forgetAtMs = report.reportedAtMs + RETENTION.overReportMs;
    problems.push(...timerProblems(`report ${alias}`, timer, forgetAtMs));
  }
  problems.push(...sizeProblem("reports that are over", reports.over, over));
  problems.push(...sizeProblem("silences", reports.silences, silences));
  return problems;
}

function questionProblems({ questions, reports, jobs }: State): string[] {
  const problems: string[] = [];
  let ended = 0;
  for (const [id, { question, timer }] of questions.byId) {
    const isOpen = question.state === "open";
    if ((questions.openOf.get(question.alias) === id) !== isOpen) problems.push(`openOf: ${id}`);
    const source = reports.byAlias.get(question.alias)?.report.facts;
    const job = jobs.byId.get(question.alias.replace(/^job:/, ""));
    const asked = (source ?? job?.progress)?.question?.value;
    if (isOpen && asked?.text !== question.text) problems.push(`${id} is open, nobody asks it`);
    if (isOpen) continue;
    ended += 1;
    const forgetAtMs = question.endedAtMs + RETENTION.questionMs;
    problems.push(...timerProblems(`question ${id}`, timer, forgetAtMs));
  }
  problems.push(...sizeProblem("ended questions", questions.ended, ended));
  return problems;
}

function directoryProblems({ directory, graceFromMs }: State): string[] {
  const problems: string[] = [];
  const lengths = new Map<string, number>();
  let mortal = 0;
  const inTiers = Object.values(directory.byTier).reduce((sum, { size }) => sum + size, 0);
  if (inTiers !== directory.byUrl.size) problems.push(`byTier holds ${inTiers} entries`);
  for (const [url, record] of directory.byUrl) {
    const { entry, seenAtMs, timer } = record;
    const { source, origin, intervalMs, ttlMs } = entry;
    problems.push(...trustProblems(entry));
    if (entry.url !== url) problems.push(`${url} is filed under another URL`);
    const [here] = directory.byTier[entry.tier].from((each) => byRegistration(each, record) >= 0);
    if (here !== record) problems.push(`byTier lacks ${url}`);
    if (!directory.bySource.of(source).has(url)) problems.push(`bySource lacks ${url}`);
    if (!directory.byOrigin.of(origin).has(url)) problems.push(`byOrigin lacks ${url}`);
    lengths.set(source, (lengths.get(source) ?? 0) + lengthOf(entry));
    if (directory.bySource.of(source).size > COUNT.entriesPerSource) {
      problems.push(`${source} has too many entries`);
    }
    if (intervalMs === 0) continue;
    mortal += 1;
    const deadlineMs = Math.max(seenAtMs, graceFromMs) + ttlMs;
    problems.push(...timerProblems(`entry ${url}`, timer, deadlineMs));
  }
  problems.push(...sizeProblem("deadlines of entries", directory.deadlines, mortal));
  for (const [source, own] of directory.lengthBySource) {
    if (lengths.get(source) !== own) problems.push(`the cards of ${source} are miscounted`);
  }
  return problems;
}

/** What is served was verified, and what was not is not shown as if it were. */
function trustProblems({ url, card, tier, heard, waiting }: DirectoryEntry): string[] {
  const problems: string[] = [];
  if ((card === null) !== (tier === "unverified")) problems.push(`${url} is served as ${tier}`);
  if (!card && !waiting) problems.push(`${url} has no card at all`);
  if (waiting?.digest === heard) problems.push(`${url} waits for what is confirmed`);
  return problems;
}

function agentProblems({ agents, graceFromMs }: State): string[] {
  const problems: string[] = [];
  let living = 0;
  let dead = 0;
  let unreachable = 0;
  for (const [agentId, { agent, seenAtMs, missedAtMs, timer }] of agents.byId) {
    if (agent.status === "dead") dead += 1;
    else living += 1;
    const isUnreachable = agent.status === "unreachable";
    if (agents.unreachable.has(agentId) !== isUnreachable) problems.push(`unreachable: ${agentId}`);
    if (isUnreachable) unreachable += 1;
    const aliveUntilMs = Math.max(seenAtMs, graceFromMs) + agent.ttlMs;
    const deadFromMs = Math.max(aliveUntilMs, missedAtMs) + agent.ttlMs;
    const deadlineMs = {
      alive: aliveUntilMs,
      unreachable: deadFromMs,
      dead: agent.diedAtMs + RETENTION.deadAgentMs,
    }[agent.status];
    problems.push(...timerProblems(`agent ${agentId}`, timer, deadlineMs));
  }
  problems.push(...sizeProblem("deadlines of agents", agents.deadlines, living));
  problems.push(...sizeProblem("graves", agents.graves, dead));
  problems.push(...sizeProblem("the unreachable", agents.unreachable, unreachable));
  return problems;
}

function leaseProblems(state: State): string[] {
  const { leases, fencing, graceFromMs } = state;
  const problems: string[] = [];
  const tokens = new Set<number>();
  for (const [taskId, { lease, timer }] of leases.byTask) {
    const deadlineMs = Math.max(lease.expiresAtMs, graceFromMs + lease.ttlMs);
    problems.push(...timerProblems(`lease ${taskId}`, timer, deadlineMs));
    problems.push(...lifeProblem(state, lease.holder, `holds lease ${taskId}`));
    if (!leases.byHolder.of(lease.holder).has(taskId)) problems.push(`byHolder lacks ${taskId}`);
    if (lease.token > fencing.lastToken) problems.push(`lease ${taskId} is ahead of the counter`);
    if (tokens.has(lease.token)) problems.push(`token ${lease.token} was given twice`);
    tokens.add(lease.token);
  }
  for (const agentId of state.agents.byId.keys()) {
    for (const taskId of leases.byHolder.of(agentId)) {
      if (leases.byTask.get(taskId)?.lease.holder !== agentId) {
        problems.push(`byHolder gives ${agentId} a lease on ${taskId}`);
      }
    }
  }
  problems.push(...sizeProblem("deadlines of leases", leases.deadlines, leases.byTask.size));
  return problems;
}

function groupProblems(state: State): string[] {
  const { elections } = state;
  const problems: string[] = [];
  let empty = 0;
  for (const [group, { election, candidates, timer }] of elections.byGroup) {
    if (candidates.size === 0) empty += 1;
    if ((candidates.size === 0) !== timer.place >= 0) problems.push(`${group}: wrong timer`);
    if ((candidates.size === 0) !== (election.leader === "")) problems.push(`${group}: leaderless`);
    if (election.leader !== "" && !candidates.has(election.leader)) {
      problems.push(`${group} is led by ${election.leader}, who is no candidate`);
    }
    for (const agentId of candidates) {
      problems.push(...lifeProblem(state, agentId, `is a candidate of ${group}`));
      if (!elections.byCandidate.of(agentId).has(group)) problems.push(`byCandidate: ${group}`);
    }
  }
  for (const agentId of state.agents.byId.keys()) {
    for (const group of elections.byCandidate.of(agentId)) {
      if (!elections.byGroup.get(group)?.candidates.has(agentId)) {
        problems.push(`byCandidate gives ${agentId} a candidacy in ${group}`);
      }
    }
  }
  problems.push(...sizeProblem("timers of empty groups", elections.empty, empty));
  return problems;
}

function taskProblems(state: State): string[] {
  const { tasks, graceFromMs } = state;
  const problems: string[] = [];
  const queued = new Set(tasks.pending.inOrder());
  const count = { pending: 0, claimed: 0, completed: 0, dead: 0, cancelled: 0 };
  let timed = 0;
  const weight = { unfinished: 0, finished: 0 };
  for (const [taskId, { task, timer }] of tasks.byId) {
    count[task.status] += 1;
    const isFinished = task.status !== "pending" && task.status !== "claimed";
    weight[isFinished ? "finished" : "unfinished"] += task.input.length + task.output.length;
    if (queued.has(taskId) === isFinished) problems.push(`${taskId}: wrong queue`);
    if (task.status === "pending" && tasks.pending.firstFor(task.requiredTools) === undefined) {
      problems.push(`${taskId} waits where nobody finds it`);
    }
    if (tasks.byClaimer.of(task.claimedBy).has(taskId) !== (task.status === "claimed")) {
      problems.push(`byClaimer is wrong about ${taskId}`);
    }
    if (task.retryCount > task.maxRetries) problems.push(`${taskId} was retried too often`);
    if (task.status === "claimed") {
      const deadlineMs = Math.max(task.expiresAtMs, graceFromMs + task.ttlMs);
      problems.push(...timerProblems(`claim of ${taskId}`, timer, deadlineMs));
      problems.push(...lifeProblem(state, task.claimedBy, `has claimed ${taskId}`));
    } else if (isFinished) {
      const deadlineMs = task.finishedAtMs + RETENTION.finishedTaskMs;
      problems.push(...timerProblems(`task ${taskId}`, timer, deadlineMs));
    } else if (task.pendingTtlMs !== undefined) {
      const deadlineMs = Math.max(task.createdAtMs, graceFromMs) + task.pendingTtlMs;
      problems.push(...timerProblems(`wait of ${taskId}`, timer, deadlineMs));
      timed += 1;
    } else if (timer.place >= 0) problems.push(`${taskId} waits, and has a timer`);
  }
  for (const agentId of state.agents.byId.keys()) {
    for (const taskId of tasks.byClaimer.of(agentId)) {
      if (tasks.byId.get(taskId)?.task.claimedBy !== agentId) problems.push(`byClaimer: ${taskId}`);
    }
  }
  if (tasks.pending.size !== count.pending) problems.push("the queue miscounts");
  if (queued.size !== count.pending + count.claimed) problems.push("the queue keeps wrong places");
  problems.push(...sizeProblem("claims", tasks.claims, count.claimed));
  problems.push(...sizeProblem("waits", tasks.waits, timed));
  const finished = count.completed + count.dead + count.cancelled;
  problems.push(...sizeProblem("finished tasks", tasks.finished, finished));
  if (tasks.dead !== count.dead) problems.push("dead tasks are miscounted");
  if (tasks.unfinishedBytes !== weight.unfinished) problems.push("unfinished tasks miscount bytes");
  if (tasks.finishedBytes !== weight.finished) problems.push("finished tasks miscount bytes");
  return problems;
}

function lifeProblem({ agents }: State, agentId: string, does: string): string[] {
  const status = agents.byId.get(agentId)?.agent.status;
  return status === "alive" || status === "unreachable"
    ? []
    : [`agent ${agentId} is ${status ?? "unknown"} and ${does}`];
}
