/**
 * Reports on their way out: in the team's names, without what must not leave, and only if they say
 * something that the team was not told before. Times that only move are told once a minute.
 */
import { agentRowId } from "../../core/agent-jobs.ts";
import type { SentJob } from "../../core/host-jobs.ts";
import type { Job } from "../../core/jobs.ts";
import { FLEET } from "../../core/limits.ts";
import { isBusy, withTimes } from "../../core/report-news.ts";
import type { Report } from "../../core/reports.ts";
import type { State } from "../../core/state.ts";
import { digestOf } from "./cursor.ts";
import type { HostNames } from "./names.ts";
import { isExcluded, sharedFacts, sharedJob, type SharePolicy } from "./policy.ts";

export interface OutgoingOptions {
  readonly names: HostNames;
  readonly policy: SharePolicy;
}

export type Told = ToldSource | ToldJob;

export interface ToldJob {
  readonly job: SentJob;
}

/** The news of one source: a report, or that there is none any more. */
export interface ToldSource {
  /** As the team has it. */
  readonly alias: string;
  readonly report: Report | undefined;
}

export class Outgoing {
  readonly #options: OutgoingOptions;
  readonly #said = new Map<string, LastReport>();

  /** How many sources and jobs it knows the last word of. */
  get size(): number {
    return this.#said.size;
  }

  constructor(options: OutgoingOptions) {
    this.#options = options;
  }

  /** Nothing where the team need not be told. */
  next(state: State, report: Report): ToldSource | undefined {
    const { names, policy } = this.#options;
    const alias = names.alias(report.alias);
    if (isWithheld(state, report, policy)) return this.end(alias);
    const told = outgoing(report, this.#options);
    const said = saidIn(told);
    const before = this.#said.get(alias);
    const isSame = before?.digest === said.digest;
    if (isSame && said.activeAtMs - before.activeAtMs < FLEET.activityMs) return undefined;
    this.#said.set(alias, said);
    return { alias, report: told };
  }

  /** It is gone, or must not be told of; said once. */
  end(alias: string): ToldSource | undefined {
    if (this.#said.get(alias)?.digest === ENDED.digest) return undefined;
    this.#said.set(alias, ENDED);
    return { alias, report: undefined };
  }

  job(state: State, job: Job): ToldJob | undefined {
    const { policy } = this.#options;
    if (isWithheld(state, { agentId: agentRowId(job) }, policy)) return undefined;
    const told = sharedJob(job, policy);
    const digest = digestOf(JSON.stringify(told));
    const key = `job ${job.id}`;
    if (this.#said.get(key)?.digest === digest) return undefined;
    this.#said.set(key, { digest, activeAtMs: 0 });
    return { job: told };
  }

  /** It is over for long: the team forgets it by itself. */
  forget(alias: string): void {
    this.#said.delete(this.#options.names.alias(alias));
  }

  /** The same of a job. */
  forgetJob(jobId: string): void {
    this.#said.delete(`job ${jobId}`);
  }
}

interface LastReport {
  readonly digest: string;
  readonly activeAtMs: number;
}

const ENDED: LastReport = { digest: "", activeAtMs: 0 };

function saidIn({ agentId, links, facts }: Report): LastReport {
  const { lastActivityAtMs = 0, ...said } = facts;
  const digest = digestOf(JSON.stringify([agentId, links, said]));
  return { digest, activeAtMs: lastActivityAtMs };
}

/** Where one source of an agent says that it works in an excluded folder, none is told of. */
function isWithheld(
  { reports }: State,
  report: Pick<Report, "agentId"> & { readonly facts?: Report["facts"] },
  policy: SharePolicy,
): boolean {
  if (policy.exclude.length === 0) return false;
  const workspace = report.facts?.workspace;
  if (workspace !== undefined && isExcluded(policy, workspace)) return true;
  for (const alias of reports.byAgent.of(report.agentId)) {
    const other = reports.byAlias.get(alias)?.report.facts.workspace;
    if (other !== undefined && isExcluded(policy, other)) return true;
  }
  return false;
}

/** Without a ttl: that a source falls silent is found out here. */
function outgoing(report: Report, { names, policy }: OutgoingOptions): Report {
  const { alias, agentId, links, order, reportedAtMs, sinceMs, facts } = report;
  const shared = sharedFacts(facts, policy);
  const isAtWork = isBusy(facts.activity?.value ?? "unknown");
  // Repeated activity is told only once: this time says that it goes on.
  const lastActivityAtMs = facts.lastActivityAtMs ?? (isAtWork ? reportedAtMs : undefined);
  const told: Report = {
    alias: names.alias(alias),
    agentId: names.agent(agentId),
    links: names.links(links),
    order,
    reportedAtMs,
    ...(sinceMs !== undefined && { sinceMs }),
    facts: { ...shared, ...(lastActivityAtMs !== undefined && { lastActivityAtMs }) },
  };
  return withTimes(told, Math.floor);
}
