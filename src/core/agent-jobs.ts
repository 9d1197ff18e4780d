/** The jobs of each agent on each node, as its row of the fleet shows them: a few, newest last. */
import { isTerminal } from "./jobs/outcome.ts";
import type { Job, JobEntry, Jobs } from "./jobs.ts";

/** The jobs of one agent on one node. */
export interface AgentJobs {
  /** Ids of those that have not ended, oldest first. */
  readonly unfinished: Set<string>;
  /** Ids of the last that ended, oldest first. */
  readonly ended: string[];
}

/** As many as a row of the fleet shows. */
const RECENT = 20;

/** The row of the fleet that a job nests in: that of its agent. */
export function agentRowId({ node, agent }: Pick<Job, "node" | "agent">): string {
  const at = agent.indexOf("@");
  return `arcp@${node}:${at < 0 ? agent : agent.slice(0, at)}`;
}

/** The agent that such a row is of; none for the row of anything else. */
export function agentOfRow(rowId: string): string | undefined {
  return /^arcp@[^:]*:(.+)$/s.exec(rowId)?.[1];
}

export function siblingsOf({ byAgent }: Jobs, job: Job): AgentJobs {
  const rowId = agentRowId(job);
  const known = byAgent.get(rowId);
  if (known) return known;
  const siblings = { unfinished: new Set<string>(), ended: [] };
  byAgent.set(rowId, siblings);
  return siblings;
}

/** By its status: among those that have not ended, or those that have. */
export function placeAtAgent(jobs: Jobs, { job, siblings }: JobEntry): void {
  const { unfinished, ended } = siblings;
  if (!isTerminal(job.status)) {
    if (!unfinished.has(job.id)) jobs.holdings.add(job.principal);
    unfinished.add(job.id);
    return;
  }
  if (unfinished.delete(job.id)) jobs.holdings.remove(job.principal);
  // A snapshot has them in the order of their submits.
  const isBefore = (id: string) => (jobs.byId.get(id)?.job.endedAtMs ?? 0) <= job.endedAtMs;
  const place = ended.findLastIndex(isBefore) + 1;
  if (place === ended.length) ended.push(job.id);
  else ended.splice(place, 0, job.id);
  if (ended.length > RECENT) ended.shift();
}

export function leaveAgent({ byAgent, holdings }: Jobs, { job, siblings }: JobEntry): void {
  const { unfinished, ended } = siblings;
  if (unfinished.delete(job.id)) holdings.remove(job.principal);
  const at = ended.indexOf(job.id);
  if (at >= 0) ended.splice(at, 1);
  if (unfinished.size > 0 || ended.length > 0) return;
  const rowId = agentRowId(job);
  // A job that ended long ago may outlive the list that it once stood in.
  if (byAgent.get(rowId) === siblings) byAgent.delete(rowId);
}
