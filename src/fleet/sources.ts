/**
 * Facts: all that rows of the fleet are made of. A row has one or more sources, each of which says
 * something of the agent as a report does:
 *
 *   a report                    state.reports      what a status file, a hook, a proxy told
 *   an agent of the registry    state.agents       and the lease or task that it holds
 *   an entry of the directory   state.directory
 *   the jobs of an agent        state.jobs         made of those that are seen
 *
 * Sources are named by keys, so that an event can say which of them it touches without making
 * anything: rows are made of them later, once, however often they were touched.
 */
import type { State } from "../core/state.ts";
import { agentRowId } from "../core/agent-jobs.ts";
import type { Report } from "../core/reports.ts";
import { sees } from "../core/visibility.ts";
import type { Source } from "./axes.ts";
import { entryReport, entryRowId, rowNamedByEntry } from "./a2a-agents.ts";
import { rowIdOf } from "./identity.ts";
import { jobReport, type JobsView } from "./job-agents.ts";
import { keeperReport, rowNamedByAgent } from "./keeper-agents.ts";
import { asHostTells } from "./silent-hosts.ts";

export type SourceKind = "report" | "agent" | "entry" | "jobs";

/** A kind, and the alias, id, URL or row of that kind. */
export type SourceKey = `${SourceKind} ${string}`;

/** A job: those of its agent are a source, which is made of them. */
export type JobKey = `job ${string}`;

export function isJobKey(key: SourceKey | JobKey): key is JobKey {
  return key.startsWith("job ");
}

/** All sources of a state, of every owner. */
export function* sourceKeys({ reports, jobs, agents, directory }: State): Generator<SourceKey> {
  for (const alias of reports.byAlias.keys()) yield `report ${alias}`;
  for (const rowId of jobs.byAgent.keys()) yield `jobs ${rowId}`;
  for (const agentId of agents.byId.keys()) yield `agent ${agentId}`;
  for (const url of directory.byUrl.keys()) yield `entry ${url}`;
}

/** All jobs that have not ended; to be read before the sources that are made of them. */
export function* jobKeys({ jobs }: State): Generator<JobKey> {
  for (const { unfinished } of jobs.byAgent.values())
    for (const id of unfinished) yield `job ${id}`;
}

/** The jobs that a principal has among them, and the agents that they are of. */
export function* jobKeysOf({ jobs }: State, principal: string): Generator<SourceKey | JobKey> {
  const sources = new Set<SourceKey>();
  for (const id of jobs.index.after({ owner: principal }, undefined)) {
    const job = jobs.byId.get(id)?.job;
    if (!job) continue;
    yield `job ${id}`;
    sources.add(`jobs ${agentRowId(job)}`);
  }
  yield* sources;
}

function kindOf(key: SourceKey): SourceKind {
  return key.slice(0, key.indexOf(" ")) as SourceKind;
}

export function sourceName(key: SourceKey | JobKey): string {
  return key.slice(key.indexOf(" ") + 1);
}

/** The sources that may be called so on their wire. */
export function aliasKeys(alias: string): readonly SourceKey[] {
  const name = alias.slice(alias.indexOf(":") + 1);
  return [
    `report ${alias}`,
    ...(alias.startsWith("keeper:") ? [`agent ${name}` as const] : []),
    ...(alias.startsWith("a2a:") ? [`entry ${name}` as const] : []),
    ...(alias.startsWith("jobs@") ? [`jobs arcp${alias.slice("jobs".length)}` as const] : []),
  ];
}

/** The report of a source; nothing where there is none that the caller sees. */
export function sourceReport(state: State, key: SourceKey, seen: JobsView): Source | undefined {
  const report = told(state, key, seen);
  return report && sees(seen.sight, report) ? report : undefined;
}

function told(state: State, key: SourceKey, seen: JobsView): Source | undefined {
  const name = sourceName(key);
  switch (kindOf(key)) {
    case "report":
      return asHostTells(state, state.reports.byAlias.get(name)?.report);
    case "agent": {
      const entry = state.agents.byId.get(name);
      return entry && keeperReport(state, entry, seen.sight);
    }
    case "entry": {
      const record = state.directory.byUrl.get(name);
      return record && entryReport(state, record, seen.sight);
    }
    case "jobs": {
      const report = jobReport(state, name, seen);
      // It is made of the jobs that are seen: it is nobody else's.
      return report && { ...report, owner: seen.sight.owner };
    }
  }
}

/** The row that a source belongs to. */
export function rowIdOfSource(state: State, key: SourceKey, report: Report): string {
  const entry = key.startsWith("entry ") && state.directory.byUrl.get(sourceName(key))?.entry;
  return entry ? entryRowId(state, report, entry) : rowIdOf(state, report);
}

/** The row that the card of a source names, whether it joins it or not. */
export function rowNamedBy({ agents, directory }: State, key: SourceKey): string | undefined {
  const name = sourceName(key);
  switch (kindOf(key)) {
    case "agent": {
      const entry = agents.byId.get(name);
      return entry && rowNamedByAgent(entry);
    }
    case "entry": {
      const record = directory.byUrl.get(name);
      return record && rowNamedByEntry(record.entry);
    }
    case "report":
    case "jobs":
      return undefined;
  }
}
