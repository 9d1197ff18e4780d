/**
 * Which sources an event touches, and so which rows are to be made anew. It is asked before the
 * event changes the state, so that what a report claimed until now is still known.
 *
 * A report may claim other sources for its row by their aliases, and those may claim others: where
 * one goes, they all go.
 */
import type { DirectoryEntry } from "../core/directory.ts";
import { ownerOf } from "../core/by.ts";
import { agentRowId } from "../core/agent-jobs.ts";
import type { Event } from "../core/events.ts";
import type { HostJob } from "../core/host-jobs.ts";
import { holderOf, hostOwner, isTrusted } from "../core/report-owners.ts";
import type { Report } from "../core/reports.ts";
import { forgottenJobs, type Job } from "../core/jobs.ts";
import type { State } from "../core/state.ts";
import { sourceName, type SourceKey } from "./sources.ts";

export interface TouchListener {
  /** `owner`: the principal whose source it is; none for the daemon's own user. */
  source(key: SourceKey, owner: string | undefined): void;
  /** The jobs of an agent, as everybody sees them. */
  jobs(rowId: string): void;
  /** A job, as its principal sees it and those that see everything. */
  job(job: TouchedJob): void;
  /** The entries of the directory whose card was fetched from this URL. */
  entriesFrom(cardUrl: string): Iterable<string>;
  /** The agents and entries whose cards name this row. */
  joining(rowId: string): Iterable<SourceKey>;
}

export type TouchedJob = Pick<Job, "id" | "agent" | "node" | "principal">;

export function touch(event: Event, state: State, touched: TouchListener): void {
  switch (event.type) {
    case "agent.registered":
      touched.source(`agent ${event.agent.agentId}`, event.agent.owner);
      return;
    case "agent.unreachable":
    case "agent.recovered":
    case "agent.died":
      touchAgent(state, event.agent.agentId, touched);
      return;
    case "agent.forgotten":
      touchAgent(state, event.agentId, touched);
      return;
    case "lease.acquired":
    case "lease.expired":
    case "lease.released":
      touchAgent(state, event.lease.holder, touched);
      return;
    case "task.claimed":
      touchAgent(state, event.claim.agentId, touched);
      return;
    case "task.completed":
    case "task.requeued":
    case "task.returned":
    case "task.died":
    case "task.cancelled":
      touchAgent(state, event.agentId, touched);
      return;
    case "fleet.reported":
      touchReport(state, event.report, touched);
      touchJoining(state, event.report, touched);
      return;
    case "fleet.forgotten":
    case "fleet.dismissed": {
      const report = state.reports.byAlias.get(event.alias)?.report;
      if (report) touchReport(state, { ...report, links: [] }, touched);
      touchJoining(state, { alias: event.alias }, touched);
      return;
    }
    case "outpost.joined":
      touchHost(state, event.outpost.host, touched);
      return;
    case "outpost.silent":
      touchHost(state, event.host, touched);
      return;
    case "outpost.job_told":
      touchHostJob(event.job, touched);
      return;
    case "outpost.jobs_forgotten":
      for (const id of event.jobIds) touchHostJob(state.hostJobs.byId.get(id)?.job, touched);
      return;
    case "job.submitted":
    case "job.ended":
    case "job.imported":
      touched.job(event.job);
      touchPayers(state, event.job.parent, touched);
      return;
    case "job.started":
    case "job.cancelling":
      touched.job(event.job);
      return;
    case "job.moved":
      touched.job({ ...event.job, node: event.from });
      touched.job(event.job);
      return;
    case "job.progressed":
      touchJob(state, event.jobId, touched);
      return;
    case "job.forgotten":
      for (const jobId of forgottenJobs(event)) touchJob(state, jobId, touched);
      return;
    case "directory.registered":
    case "directory.changed":
    case "directory.verified":
    case "directory.doubted":
    case "directory.refreshed":
      touchEntry(state, event.entry, touched);
      return;
    case "directory.evicted":
    case "directory.removed": {
      const entry = state.directory.byUrl.get(event.url)?.entry;
      if (entry) touchEntry(state, entry, touched);
      return;
    }
    // A renewal moves a deadline that no row shows; the rest is about no agent.
    case "lease.renewed":
    case "task.renewed":
    case "agent.bound":
    case "election.joined":
    case "election.left":
    case "election.forgotten":
    case "leader.changed":
    case "task.created":
    case "task.expired":
    case "task.forgotten":
    case "question.asked":
    case "question.answered":
    case "question.withdrawn":
    case "question.expired":
    case "question.dismissed":
    case "question.forgotten":
    case "policy.set":
    case "policy.deleted":
    case "session.opened":
    case "session.resumed":
    case "session.proved":
    case "session.gone":
    case "session.subscribed":
    case "session.unsubscribed":
    case "credential.requested":
    case "credential.issued":
    case "credential.revoked":
    case "outpost.took":
    case "outpost.forgotten":
    case "token.created":
    case "token.revoked":
    case "token.forgotten":
    case "node.leading":
    case "node.resumed":
    case "node.resigned":
    case "node.joined":
    case "node.left":
    case "node.finalized":
    case "request.answered":
      return;
  }
}

/** All that an outpost reported: it is told anew whether its host is silent. */
function touchHost({ reports }: State, host: string, touched: TouchListener): void {
  const owner = hostOwner(host);
  for (const alias of reports.ofHost.of(host)) touched.source(`report ${alias}`, owner);
}

/** Its agent's row has the report of that agent's jobs, which the outpost sends as well. */
function touchHostJob(job: HostJob | undefined, touched: TouchListener): void {
  if (!job) return;
  const rowId = agentRowId(job);
  const owner = hostOwner(job.host);
  for (const wire of ["jobs", "arcp"] as const) {
    touched.source(`report ${wire}${rowId.slice(rowId.indexOf("@"))}`, owner);
  }
}

function touchAgent({ agents }: State, agentId: string, touched: TouchListener): void {
  const entry = agents.byId.get(agentId);
  if (entry) touched.source(`agent ${agentId}`, entry.agent.owner);
}

function touchJob({ jobs }: State, jobId: string, touched: TouchListener): void {
  const job = jobs.byId.get(jobId)?.job;
  if (job) touched.job(job);
}

/** More than there are, even where the operator allows many. */
const GENERATIONS = 64;

/** A job's budget is taken from those above it, and what is left of it is given back to them. */
function touchPayers({ jobs }: State, parent: string, touched: TouchListener): void {
  let job = jobs.byId.get(parent)?.job;
  // Imported jobs may name each other as parents, in a circle.
  for (let i = 0; job && i < GENERATIONS; i += 1) {
    touched.job(job);
    job = jobs.byId.get(job.parent)?.job;
  }
}

function touchEntry({ directory }: State, entry: DirectoryEntry, touched: TouchListener): void {
  const before = directory.byUrl.get(entry.url)?.entry;
  touched.source(`entry ${entry.url}`, entry.owner);
  if (before && before.owner !== entry.owner) touched.source(`entry ${entry.url}`, before.owner);
}

interface Claimer {
  readonly alias: string;
  readonly owner?: string | undefined;
  readonly links: readonly string[];
}

function touchReport(state: State, report: Claimer, touched: TouchListener): void {
  const { alias } = report;
  const before = state.reports.byAlias.get(alias)?.report;
  touched.source(`report ${alias}`, report.owner);
  if (before && before.owner !== report.owner) touched.source(`report ${alias}`, before.owner);
  // An agent that is hosted is shown with its jobs, also while it runs none.
  if (state.jobs.byAgent.has(alias)) touched.jobs(alias);
  const seen = new Set<string>([alias]);
  for (const link of report.links) touchAlias(state, link, { touched, seen });
  for (const link of before?.links ?? []) touchAlias(state, link, { touched, seen });
}

/** Cards join the row that they name as long as no other owner reports on it. */
function touchJoining(
  state: State,
  next: Pick<Report, "alias"> & Partial<Report>,
  touched: TouchListener,
): void {
  const { alias, agentId } = next;
  const before = state.reports.byAlias.get(alias)?.report;
  for (const rowId of new Set([before?.agentId, agentId])) {
    if (rowId === undefined) continue;
    const holder = holderOf(state, rowId);
    const own = rowId === agentId && !isTrusted(next) ? ownerOf(next) : undefined;
    if (holder === (holderOf(state, rowId, alias) ?? own)) continue;
    for (const key of touched.joining(rowId)) touchJoiner(state, key, touched);
  }
}

function touchJoiner(state: State, key: SourceKey, touched: TouchListener): void {
  const name = sourceName(key);
  if (key.startsWith("agent ")) return touchAgent(state, name, touched);
  const entry = state.directory.byUrl.get(name)?.entry;
  if (entry) touchEntry(state, entry, touched);
}

interface Walk {
  readonly touched: TouchListener;
  /** Claims may go round in circles. */
  readonly seen: Set<string>;
}

function touchAlias(state: State, alias: string, { touched, seen }: Walk): void {
  if (seen.has(alias)) return;
  seen.add(alias);
  const [, wire = "", name = ""] = /^([^:@]*)[^:]*:(.*)$/s.exec(alias) ?? [];
  if (wire === "keeper") touchAgent(state, name, touched);
  if (wire === "jobs") touched.jobs(`arcp${alias.slice(wire.length)}`);
  if (wire === "a2a") {
    for (const url of [name, ...touched.entriesFrom(name)]) {
      const entry = state.directory.byUrl.get(url)?.entry;
      if (entry) touchEntry(state, entry, touched);
    }
  }
  const report = state.reports.byAlias.get(alias)?.report;
  if (!report) return;
  touched.source(`report ${alias}`, report.owner);
  for (const link of report.links) touchAlias(state, link, { touched, seen });
}
