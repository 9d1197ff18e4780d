/**
 * The ledger: what programs before schema 2 kept of their jobs and sessions, beside the engine's
 * log. A record was written whole when it was new, by small changes after that, and dropped when it
 * was no longer needed:
 *
 *   | ses 7 | job 1 | job+ 1 | sub 7 1 | job 2 | job- 1 | …
 *
 * Events of jobs are not here: they stand as frames in the stream of each session (see frames.ts).
 */
import type { LeaseRequest } from "../../../core/jobs/lease.ts";
import type { JobStatus, Outcome } from "../../../core/jobs/outcome.ts";
import type { Counters } from "../../../core/jobs/budget.ts";

import type { Credential } from "../../../core/credentials.ts";
import type { Streams } from "../../../log/streams.ts";

export const LEDGER_STREAM = "arcp/ledger";

export interface LedgerJob {
  readonly id: string;
  readonly session: string;
  readonly agent: string;
  readonly trace: string;
  readonly at: number;
  readonly lease: LeaseRequest;
  readonly expires?: number;
  /** The rest of it. */
  readonly budget?: Counters;
  /** Its longest run, in seconds. */
  readonly max?: number;
  readonly key?: string;
  readonly print?: string;
  readonly parent?: string;
  readonly delegate?: string;
  readonly request?: string;
  readonly input?: unknown;
  /** Whether it waits for a slot; of a job that ended, whether it ended there. */
  readonly queued?: boolean;
  readonly cancel?: string;
  readonly restarts?: number;

  // Since it ended.
  readonly status?: Exclude<JobStatus, "pending" | "running">;
  readonly ended?: number;
  /** How, unless it succeeded. */
  readonly ending?: Exclude<Outcome, { status: "success" }>;
  /** Where in the stream of its session its frames stand, among others. */
  readonly pieces?: readonly (readonly [first: number, last: number])[];
}

export interface LedgerSession {
  readonly id: string;
  /** The principal. */
  readonly who: string;
  readonly profile: string;
  readonly features: readonly string[];
  readonly client: string;
  /** Digests of the token that resumes it, and of the one before while that may be needed. */
  readonly token: string;
  readonly before?: string;
  /** It cannot be resumed; it is kept for its jobs. */
  readonly gone?: boolean;
}

/** Session `s` follows job `j`. */
export interface LedgerSubscription {
  readonly s: string;
  readonly j: string;
  /** Through where it has read the stream of the session that submitted the job. */
  readonly at: number;
  /** It has read all of it, and gets what the job says with that session. */
  readonly live: boolean;
}

type LedgerRecord =
  | ({ readonly t: "job" } & LedgerJob)
  | ({ readonly t: "job+"; readonly id: string } & Partial<LedgerJob>)
  | ({ readonly t: "ses" } & LedgerSession)
  | ({ readonly t: "sub" | "sub+" } & LedgerSubscription)
  | { readonly t: "cred"; readonly job: string; readonly ids: readonly string[] }
  | { readonly t: "job-" | "ses-"; readonly id: string }
  | { readonly t: "sub-"; readonly s: string; readonly j: string }
  | { readonly t: "cred-"; readonly job: string };

export class Ledger {
  readonly jobs = new Map<string, LedgerJob>();
  readonly sessions = new Map<string, LedgerSession>();
  /** Sessions → jobs → how each follows them. */
  readonly subscriptions = new Map<string, Map<string, LedgerSubscription>>();
  readonly credentials = new Map<string, Credential>();

  read(record: LedgerRecord): void {
    switch (record.t) {
      case "job":
        this.jobs.set(record.id, record);
        return;
      case "job+":
        return this.#change(record);
      case "job-":
        this.jobs.delete(record.id);
        return;
      case "ses":
        this.sessions.set(record.id, record);
        return;
      case "ses-":
        this.sessions.delete(record.id);
        return;
      case "sub":
        this.#subscriptionsOf(record.s).set(record.j, record);
        return;
      case "sub+": {
        const known = this.#subscriptionsOf(record.s);
        if (known.has(record.j)) known.set(record.j, record);
        return;
      }
      case "sub-":
        this.#subscriptionsOf(record.s).delete(record.j);
        return;
      case "cred":
        this.credentials.set(record.job, { jobId: record.job, ids: record.ids });
        return;
      case "cred-":
        this.credentials.delete(record.job);
        return;
    }
  }

  #change(change: Partial<LedgerJob> & { readonly id: string }): void {
    const job = this.jobs.get(change.id);
    if (!job) return;
    const { input, ...rest } = { ...job, ...change };
    // Of a job that ended nobody needs it, and it may be large.
    this.jobs.set(job.id, rest.ended === undefined ? { ...rest, input } : rest);
  }

  #subscriptionsOf(sessionId: string): Map<string, LedgerSubscription> {
    const known = this.subscriptions.get(sessionId);
    if (known) return known;
    const made = new Map<string, LedgerSubscription>();
    this.subscriptions.set(sessionId, made);
    return made;
  }
}

/** Undefined where there is none: the file is new, or was converted. */
export async function readLedger(streams: Streams): Promise<Ledger | undefined> {
  const { oldest, head } = await streams.range(LEDGER_STREAM);
  if (head === 0) return undefined;
  const ledger = new Ledger();
  for await (const { entries } of streams.read(LEDGER_STREAM, oldest - 1)) {
    for (const text of entries) ledger.read(JSON.parse(text) as LedgerRecord);
  }
  return ledger;
}
