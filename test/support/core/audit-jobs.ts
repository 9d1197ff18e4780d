/** The audit of jobs, with their queues and purses, and of sessions. */
import { EVERYTHING } from "../../../src/core/visibility.ts";
import type { Amount } from "../../../src/core/jobs/decimal.ts";
import { isTerminal } from "../../../src/core/jobs/outcome.ts";
import { jobDeadline, graceOf } from "../../../src/core/job-deadlines.ts";
import { agentRowId } from "../../../src/core/agent-jobs.ts";
import type { Job, JobEntry, Jobs } from "../../../src/core/jobs.ts";
import type { State } from "../../../src/core/state.ts";
import { sizeProblem, timerProblems } from "./audit-timers.ts";

export function jobProblems(state: State): string[] {
  const { jobs } = state;
  const problems: string[] = [];
  const count = { running: 0, timed: 0, ended: 0, keyed: 0 };
  for (const [id, entry] of jobs.byId) {
    const { job } = entry;
    if (job.id !== id) problems.push(`${id} is filed under another name`);
    if (job.status === "running") count.running += 1;
    if (job.session && !jobs.bySession.of(job.session).has(id)) problems.push(`bySession: ${id}`);
    problems.push(...heapProblems(state, entry), ...childProblems(jobs, entry));
    if (isTerminal(job.status)) count[entry.heap === jobs.keyed ? "keyed" : "ended"] += 1;
    else if (jobDeadline(job) < Infinity) count.timed += 1;
  }
  problems.push(...sizeProblem("deadlines of jobs", jobs.deadlines, count.timed));
  problems.push(...sizeProblem("ended jobs", jobs.ended, count.ended));
  problems.push(...sizeProblem("ended jobs under a key", jobs.keyed, count.keyed));
  if (jobs.running !== count.running) problems.push("running jobs are miscounted");
  problems.push(...indexProblems(jobs), ...agentProblems(jobs));
  return [...problems, ...queueProblems(jobs), ...purseProblems(jobs)];
}

function heapProblems(state: State, { job, timer, heap }: JobEntry): string[] {
  const { jobs } = state;
  const isOver = isTerminal(job.status);
  const dueMs = isOver ? forgetAtMs(jobs, job) : jobDeadline(job, graceOf(state));
  if (dueMs === Infinity) return heap || timer.place >= 0 ? [`${job.id} has a timer`] : [];
  const isRight = isOver ? heap === jobs.ended || heap === jobs.keyed : heap === jobs.deadlines;
  if (!isRight) return [`${job.id} stands in the wrong heap`];
  if (heap === jobs.ended && jobs.index.holdsKey(job)) return [`${job.id} still has its key`];
  return timerProblems(`job ${job.id}`, timer, dueMs);
}

function forgetAtMs({ index, limits }: Jobs, job: Job): number {
  if (index.holdsKey(job)) return job.submittedAtMs + limits.keyTtlMs;
  return job.endedAtMs + limits.finishedMs;
}

function childProblems(jobs: Jobs, { job, children = new Set() }: JobEntry): string[] {
  if (isTerminal(job.status)) return [];
  const unfinished = [...jobs.byId.values()]
    .filter((other) => other.job.parent === job.id && !isTerminal(other.job.status))
    .map((other) => other.job.id);
  return sorted(children) === sorted(unfinished) ? [] : [`${job.id} miscounts its children`];
}

function sorted(ids: Iterable<string>): string {
  return [...ids].toSorted().join();
}

function allOf({ byId }: Jobs): Job[] {
  return Array.from(byId.values(), ({ job }) => job);
}

function grouped(jobs: readonly Job[], nameOf: (job: Job) => string): Map<string, Job[]> {
  const groups = new Map<string, Job[]>();
  for (const job of jobs) groups.set(nameOf(job), [...(groups.get(nameOf(job)) ?? []), job]);
  return groups;
}

/** By principal in order of id, and by key. */
function indexProblems(jobs: Jobs): string[] {
  const problems: string[] = [];
  const byPrincipal = grouped(allOf(jobs), ({ principal }) => principal);
  if ([...jobs.index.after(EVERYTHING, undefined)].join() !== sorted([...jobs.byId.keys()])) {
    problems.push("all jobs are listed wrongly");
  }
  for (const principal of jobs.index.principals()) {
    if (!byPrincipal.has(principal)) problems.push(`${principal} is listed and has no job`);
  }
  for (const [principal, own] of byPrincipal) {
    const listed = [...jobs.index.after({ owner: principal }, undefined)].join();
    if (listed !== sorted(own.map(({ id }) => id))) {
      problems.push(`the jobs of ${principal} are listed wrongly: ${listed}`);
    }
    const keys = new Set(own.flatMap(({ key }) => key ?? []));
    const held = [...keys].filter((key) => jobs.index.byKey(principal, key) !== undefined);
    if (jobs.index.keyCount(principal) !== held.length) problems.push(`keys of ${principal}`);
  }
  return problems;
}

/** Of each agent those that have not ended, and the last that did. */
function agentProblems(jobs: Jobs): string[] {
  const problems: string[] = [];
  const byAgent = grouped(allOf(jobs), agentRowId);
  for (const [rowId, own] of byAgent) {
    const { unfinished, ended } = jobs.byAgent.get(rowId) ?? { unfinished: new Set(), ended: [] };
    const running = own.filter(({ status }) => !isTerminal(status)).map(({ id }) => id);
    if (sorted(unfinished) !== sorted(running)) problems.push(`${rowId} runs other jobs`);
    const times = ended.map((id) => jobs.byId.get(id)?.job.endedAtMs ?? 0);
    const isInOrder = times.every((atMs, i) => atMs > 0 && atMs >= (times[i - 1] ?? 0));
    if (!isInOrder || new Set(ended).size < ended.length) problems.push(`${rowId}: ended jobs`);
  }
  if (jobs.byAgent.size > byAgent.size) problems.push("an agent is kept without a job");
  return problems;
}

/** Slots and lines are counted right, and no job waits while a slot is free. */
function queueProblems(jobs: Jobs): string[] {
  const problems: string[] = [];
  const top = allOf(jobs).filter(({ parent }) => parent === "");
  for (const [node, ofNode] of grouped(top, (job) => job.node)) {
    const queue = jobs.queue(node);
    const all = ofNode.filter(({ status }) => status === "running").length;
    for (const [principal, own] of grouped(ofNode, ({ principal: name }) => name)) {
      const running = own.filter(({ status }) => status === "running").length;
      const waiting = own.filter(({ status }) => status === "pending").length;
      const isFree = (most: number, mostOwn: number) =>
        queue.isFree(principal, { ...jobs.limits, running: most, runningPerPrincipal: mostOwn });
      if (!isFree(all + 1, running + 1)) problems.push(`${node} thinks that more jobs run`);
      if (isFree(all, Infinity) || isFree(Infinity, running)) {
        problems.push(`${node} thinks that fewer jobs of ${principal} run`);
      }
      if (queue.waiting(principal) !== waiting) problems.push(`${node} miscounts ${principal}`);
    }
    const next = queue.next(jobs.limits);
    if (next !== undefined) problems.push(`${next} waits, and ${node} has a free slot`);
  }
  return problems;
}

/** No purse has more left, with all that it set aside for others, than it was granted. */
function purseProblems(jobs: Jobs): string[] {
  const problems: string[] = [];
  const reserved = new Map<string, Amount>();
  const unfinished = [...jobs.byId.values()].filter(({ job }) => !isTerminal(job.status));
  for (const { job, lease } of unfinished) {
    for (const [currency, amount] of lease.budget ?? []) {
      const payer = payerOf(jobs, job, currency);
      if (!payer) continue;
      const name = `${payer} ${currency}`;
      reserved.set(name, (reserved.get(name) ?? 0n) + amount);
    }
  }
  for (const { job, purse } of unfinished) {
    for (const [currency, granted] of purse.granted) {
      const left = purse.remaining.get(currency) ?? 0n;
      const aside = reserved.get(`${job.id} ${currency}`) ?? 0n;
      if (left + aside > granted) problems.push(`${job.id} has more ${currency} than granted`);
    }
  }
  return problems;
}

/** The nearest job above that has not ended and has a budget in a currency. */
function payerOf(jobs: Jobs, { parent }: Job, currency: string): string | undefined {
  for (let above = jobs.byId.get(parent); above; above = jobs.byId.get(above.job.parent)) {
    const isOver = isTerminal(above.job.status);
    if (!isOver && above.purse.granted.has(currency)) return above.job.id;
  }
  return undefined;
}

export function sessionProblems({ sessions, graceFromMs, credentials }: State): string[] {
  const problems: string[] = [];
  let timed = 0;
  for (const [id, entry] of sessions.byId) {
    const { session, isAttached, detachedAtMs, timer } = entry;
    if (session.id !== id) problems.push(`${id} is filed under another name`);
    if (!sessions.byPrincipal.of(session.principal).has(id)) problems.push(`byPrincipal: ${id}`);
    if (timer.place >= 0) timed += 1;
    if (isAttached) continue;
    const goneAtMs = Math.max(detachedAtMs, graceFromMs) + sessions.limits.resumeWindowSec * 1000;
    problems.push(...timerProblems(`session ${id}`, timer, goneAtMs));
  }
  problems.push(...sizeProblem("deadlines of sessions", sessions.deadlines, timed));
  for (const [jobId, credential] of credentials.byJob) {
    if (credential.jobId !== jobId) problems.push(`credentials of ${jobId} are filed wrongly`);
  }
  return problems;
}
