/**
 * The jobs of each principal, in the order of their ids, which is the order in which they were
 * made. A page begins after an id, so it costs a binary search wherever it begins, and jobs that
 * come and go between two pages neither repeat nor hide another.
 */
import type { JobStatus } from "../core/jobs/outcome.ts";
import { LISTING } from "./limits.ts";
import type { Job } from "./job.ts";

export interface JobFilter {
  readonly statuses?: readonly JobStatus[] | undefined;
  /** A bare name means every version of it. */
  readonly agent?: string | undefined;
  /** Both bounds are strict. */
  readonly createdAfterMs?: number | undefined;
  readonly createdBeforeMs?: number | undefined;
}

export interface JobQuery {
  readonly filter: JobFilter;
  readonly limit: number;
  /** The id of the last job of the page before. */
  readonly after: string | undefined;
}

export interface JobPage {
  readonly jobs: readonly Job[];
  /** Where the next page begins; undefined at the end. */
  readonly next: string | undefined;
}

/** Of an entry without its lease. */
const ENTRY_LENGTH = 512;

interface Shelf {
  jobs: Job[];
  gone: number;
}

export class JobIndex {
  readonly #byId = new Map<string, Job>();
  readonly #byPrincipal = new Map<string, Shelf>();

  get(jobId: string): Job | undefined {
    return this.#byId.get(jobId);
  }

  get size(): number {
    return this.#byId.size;
  }

  all(): IterableIterator<Job> {
    return this.#byId.values();
  }

  add(job: Job): void {
    this.#byId.set(job.id, job);
    const shelf = this.#byPrincipal.get(job.principal) ?? { jobs: [], gone: 0 };
    this.#byPrincipal.set(job.principal, shelf);
    const last = shelf.jobs.at(-1);
    if (!last || last.id < job.id) shelf.jobs.push(job);
    // After a start the ledger gives the jobs in another order.
    else shelf.jobs.splice(firstAfter(shelf.jobs, job.id), 0, job);
  }

  delete(job: Job): void {
    const shelf = this.#byPrincipal.get(job.principal);
    if (!this.#byId.delete(job.id) || !shelf) return;
    shelf.gone += 1;
    if (shelf.gone === shelf.jobs.length) this.#byPrincipal.delete(job.principal);
    else if (shelf.gone > 64 && shelf.gone * 2 > shelf.jobs.length) {
      shelf.jobs = shelf.jobs.filter((each) => this.#byId.has(each.id));
      shelf.gone = 0;
    }
  }

  page(principal: string, { filter, limit, after }: JobQuery): JobPage {
    const shelf = this.#byPrincipal.get(principal)?.jobs ?? [];
    const found: Job[] = [];
    let length = 0;
    const start = after === undefined ? 0 : firstAfter(shelf, after);
    for (let at = start; at < shelf.length; at += 1) {
      const job = shelf[at];
      if (!job) break;
      if (this.#byId.has(job.id) && matches(job, filter)) {
        found.push(job);
        length += lengthOf(job);
      }
      const isFull =
        found.length === limit ||
        length >= LISTING.pageLength ||
        at - start + 1 === LISTING.scanned;
      if (isFull) return { jobs: found, next: at + 1 < shelf.length ? job.id : undefined };
    }
    return { jobs: found, next: undefined };
  }
}

/** About how long its entry is; most leases are empty. */
function lengthOf({ grant }: Job): number {
  for (const _ in grant.shape) return ENTRY_LENGTH + JSON.stringify(grant.shape).length;
  return ENTRY_LENGTH;
}

/** The place of the first job whose id comes after this one. */
function firstAfter(jobs: readonly Job[], id: string): number {
  let low = 0;
  let high = jobs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((jobs[middle]?.id ?? "") <= id) low = middle + 1;
    else high = middle;
  }
  return low;
}

function matches(job: Job, filter: JobFilter): boolean {
  const { statuses, agent, createdAfterMs, createdBeforeMs } = filter;
  if (statuses && !statuses.includes(job.status)) return false;
  if (agent !== undefined && agent !== job.agent && agent !== job.agentName) return false;
  if (createdAfterMs !== undefined && job.createdAtMs <= createdAfterMs) return false;
  return createdBeforeMs === undefined || job.createdAtMs < createdBeforeMs;
}
