/**
 * After a start: the jobs the ledger knows, and what becomes of those that had not ended.
 *
 *   waited in the queue      waits again
 *   was told to stop         cancelled
 *   restart: "always"        runs again from its beginning, a few times at most
 *   anything else            an error that may be retried: its agent died with the process
 *
 * Two steps, because those who follow a job must be there before it says anything: `rebuild`,
 * then `resume`.
 */
import type { Agents } from "./agents.ts";
import type { Credentials, DebtEntry } from "./credentials.ts";
import type { JobOwner } from "./follower.ts";
import { Grant } from "./grant.ts";
import { Job, newRunning, type JobEntry } from "./job.ts";
import type { Jobs } from "./jobs.ts";
import type { Ledger } from "./ledger.ts";
import { JOBS } from "./limits.ts";
import { Spans, type Piece } from "./spans.ts";

interface KeptJob {
  entry: JobEntry;
  readonly place: number;
}

/** The entries of this module, by their tag. */
export type JobLedgerEntry =
  | JobEntry
  | ({ readonly t: "job+"; readonly id: string } & Partial<Omit<JobEntry, "t" | "id">>)
  | { readonly t: "job-"; readonly id: string }
  | DebtEntry
  | { readonly t: "cred-"; readonly job: string };

export interface RevivalOptions {
  readonly jobs: Jobs;
  readonly agents: Agents;
  readonly ledger: Ledger;
  readonly credentials: Credentials | undefined;
  readonly ownerOf: (sessionId: string) => JobOwner | undefined;
}

export class Revival {
  readonly #options: RevivalOptions;
  readonly #kept = new Map<string, KeptJob>();
  readonly #debts = new Map<string, { readonly entry: DebtEntry; readonly place: number }>();
  readonly #unfinished: Job[] = [];

  constructor(options: RevivalOptions) {
    this.#options = options;
  }

  /** One entry of the ledger, in their order. */
  read(entry: JobLedgerEntry, place: number): void {
    switch (entry.t) {
      case "job":
        this.#kept.set(entry.id, { entry, place });
        return;
      case "job+": {
        const kept = this.#kept.get(entry.id);
        if (kept) kept.entry = { ...kept.entry, ...entry, t: "job" };
        return;
      }
      case "job-":
        this.#kept.delete(entry.id);
        return;
      case "cred":
        this.#debts.set(entry.job, { entry, place });
        return;
      case "cred-":
        this.#debts.delete(entry.job);
        return;
    }
  }

  /** The sessions are there. */
  rebuild(): void {
    // A parent was made before its children, and ids grow.
    const kept = [...this.#kept.values()].sort((a, b) => (a.entry.id < b.entry.id ? -1 : 1));
    for (const { entry, place } of kept) this.#rebuild(entry, place);
    for (const { entry, place } of this.#debts.values()) {
      this.#options.credentials?.restore(entry, place);
    }
  }

  #rebuild(entry: JobEntry, place: number): void {
    const { jobs, ledger, ownerOf } = this.#options;
    const owner = ownerOf(entry.session);
    // A session outlives its jobs in the ledger, so there is one.
    if (!owner) return;
    const job = jobOf(entry, owner, jobs.index.get(entry.parent ?? ""));
    jobs.add(job);
    ledger.place(job, place);
    if (job.isOver) {
      jobs.retention.add(job, job.endedAtMs);
      return;
    }
    job.running = newRunning();
    const parent = job.parent?.running;
    if (parent) (parent.children ??= new Set()).add(job);
    this.#unfinished.push(job);
  }

  /** Those who follow are there as well. Children end before their parents do. */
  resume(): void {
    const { credentials, jobs } = this.#options;
    for (const job of this.#unfinished.toReversed()) this.#resume(job);
    for (const jobId of credentials?.jobs ?? []) {
      if (jobs.index.get(jobId)?.running === undefined) credentials?.end(jobId);
    }
    jobs.sweep();
  }

  #resume(job: Job): void {
    const { jobs } = this.#options;
    const { runs } = jobs;
    if (job.isOver) return;
    // Their values are not known any more, so they are of no use to the job.
    this.#options.credentials?.end(job.id);
    if (job.cancelReason !== undefined) {
      runs.end(job, { status: "cancelled", reason: job.cancelReason });
    } else if (job.isQueued) {
      runs.watchDeadlines(job);
      jobs.enqueue(job);
    } else if (this.#runsAgain(job)) {
      job.restarts += 1;
      job.isQueued = true;
      runs.change(job, { restarts: job.restarts, queued: true });
      runs.tell(job, { kind: "status", body: { phase: "restarted" } });
      runs.watchDeadlines(job);
      jobs.enqueue(job);
    } else {
      const message = "the process that ran the agent died";
      runs.end(job, { status: "error", code: "UNAVAILABLE", message });
    }
  }

  #runsAgain(job: Job): boolean {
    if (job.parent || job.restarts >= JOBS.restarts) return false;
    try {
      return this.#options.agents.resolve(job.agent).restart === "always";
    } catch {
      return false;
    }
  }
}

function jobOf(entry: JobEntry, owner: JobOwner, parent: Job | undefined): Job {
  const isOver = entry.ended !== undefined;
  const { lease, expires, budget } = entry;
  const grant = Grant.restore({ lease, expires, budget, parent: parent?.grant, isOver });
  const job = new Job(
    {
      id: entry.id,
      owner,
      agent: entry.agent,
      agentName: entry.name,
      grant,
      traceId: entry.trace,
      createdAtMs: entry.at,
      maxRuntimeSec: entry.max,
      key: entry.key,
      fingerprint: entry.print,
      parent,
      delegateId: entry.delegate,
      requestId: entry.request,
      from: entry.from,
    },
    entry.input,
  );
  job.status = entry.status ?? "pending";
  job.endedAtMs = entry.ended ?? 0;
  job.ending = entry.ending;
  // Of a job that had not ended only the beginning is known: somewhere after it all else stands.
  const rest: readonly Piece[] = owner.head > entry.from ? [[entry.from + 1, owner.head]] : [];
  job.spans = new Spans(entry.pieces ?? rest);
  job.cancelReason = entry.cancel;
  job.restarts = entry.restarts ?? 0;
  job.isQueued = entry.queued === true;
  return job;
}
