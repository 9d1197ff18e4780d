/**
 * The unfinished jobs of an agent, for its row: how many, the newest few, since when the first
 * runs, which one asked first. An agent may have a hundred thousand of them, so the
 * rows that are kept ask orders that are kept; a row of the past looks at each job once.
 *
 * Both must tell the same: what a job last said and spent is soft, and the code that changes it
 * tells the view which job it was (engine/observer.ts).
 */
import { byText } from "../core/text.ts";
import { agentRowId } from "../core/agent-jobs.ts";
import { Heap, type Slot } from "../core/heap.ts";
import { jobQuestionOf } from "../core/job-progress.ts";
import { isTerminal } from "../core/jobs/outcome.ts";
import type { JobEntry } from "../core/jobs.ts";
import { SortedList } from "../core/sorted-list.ts";
import type { State } from "../core/state.ts";
import { seesJob, type Sight } from "../core/visibility.ts";

/** The most jobs that a row shows. */
export const SHOWN_JOBS = 20;

export interface UnfinishedJobs {
  readonly running: number;
  readonly waiting: number;
  /** Ids, the newest first: no more than a row shows. */
  readonly newest: readonly string[];
  /** When the first of those that run began; Infinity where none runs. */
  readonly begunAtMs: number;
  /** When one of those that run last said something; 0 where none runs. */
  readonly saidAtMs: number;
  /** The id of one that runs. */
  readonly someRunning: string | undefined;
  /** The id of the one that runs and whose question is the oldest. */
  readonly asking: string | undefined;
}

/** The jobs of one agent that the caller sees. */
export function unfinishedOf({ jobs }: State, rowId: string, sight: Sight): UnfinishedJobs {
  const group = new RowJobGroup();
  for (const id of jobs.byAgent.get(rowId)?.unfinished ?? []) {
    const entry = jobs.byId.get(id);
    if (entry && seesJob(sight, entry.job)) group.add(keptJob(entry, rowId));
  }
  return group;
}

/** The unfinished jobs of all agents, kept for a view. */
export class KeptJobs {
  readonly #sight: Sight;
  readonly #byId = new Map<string, KeptJob>();
  readonly #byRow = new Map<string, RowJobGroup>();

  constructor(sight: Sight) {
    this.#sight = sight;
  }

  of(rowId: string): UnfinishedJobs {
    return this.#byRow.get(rowId) ?? NONE;
  }

  /** A job as it is now: one that ended, is gone or is not seen has no place here. */
  place({ jobs }: State, id: string): void {
    const before = this.#byId.get(id);
    if (before) this.#take(before);
    const entry = jobs.byId.get(id);
    if (!entry || isTerminal(entry.job.status) || !seesJob(this.#sight, entry.job)) return;
    const job = keptJob(entry, agentRowId(entry.job));
    this.#byId.set(id, job);
    const group = this.#byRow.get(job.rowId) ?? new RowJobGroup();
    this.#byRow.set(job.rowId, group);
    group.add(job);
  }

  #take(job: KeptJob): void {
    this.#byId.delete(job.id);
    const group = this.#byRow.get(job.rowId);
    group?.delete(job);
    if (group?.isEmpty) this.#byRow.delete(job.rowId);
  }
}

/** A job as it stands in the orders of its agent. */
interface KeptJob {
  readonly id: string;
  readonly rowId: string;
  readonly submittedAtMs: number;
  readonly isRunning: boolean;
  readonly begun: Slot<string>;
  readonly said: Slot<string>;
  /** Since when it asks; 0 where it does not. */
  readonly askedAtMs: number;
}

function keptJob({ job, pulse, purse, progress }: JobEntry, rowId: string): KeptJob {
  const { id, submittedAtMs, startedAtMs } = job;
  const isRunning = job.status === "running";
  const question = pulse ? jobQuestionOf(pulse, purse) : progress?.question;
  const saidAtMs = pulse?.lastAtMs ?? progress?.atMs ?? startedAtMs;
  return {
    id,
    rowId,
    submittedAtMs,
    isRunning,
    begun: { at: startedAtMs, value: id, place: -1 },
    // A heap gives the least first.
    said: { at: -saidAtMs, value: id, place: -1 },
    askedAtMs: isRunning ? (question?.value.sinceMs ?? 0) : 0,
  };
}

/** Of one agent. */
class RowJobGroup implements UnfinishedJobs {
  readonly #all = new SortedList<KeptJob>(
    (a, b) => a.submittedAtMs - b.submittedAtMs || byId(a, b),
  );
  readonly #asking = new SortedList<KeptJob>((a, b) => a.askedAtMs - b.askedAtMs || byId(a, b));
  readonly #begun = new Heap<string>();
  readonly #said = new Heap<string>();

  get isEmpty(): boolean {
    return this.#all.size === 0;
  }

  get running(): number {
    return this.#begun.size;
  }

  get waiting(): number {
    return this.#all.size - this.running;
  }

  get newest(): readonly string[] {
    const ids: string[] = [];
    for (const { id } of this.#all.backwards()) if (ids.push(id) >= SHOWN_JOBS) break;
    return ids;
  }

  get begunAtMs(): number {
    return this.#begun.nextAt() ?? Infinity;
  }

  get saidAtMs(): number {
    return -(this.#said.nextAt() ?? 0);
  }

  get someRunning(): string | undefined {
    return this.#begun.first();
  }

  get asking(): string | undefined {
    const [first] = this.#asking.from();
    return first?.id;
  }

  add(job: KeptJob): void {
    this.#all.add(job);
    if (job.askedAtMs > 0) this.#asking.add(job);
    if (!job.isRunning) return;
    this.#begun.move(job.begun, job.begun.at);
    this.#said.move(job.said, job.said.at);
  }

  delete(job: KeptJob): void {
    this.#all.delete(job);
    if (job.askedAtMs > 0) this.#asking.delete(job);
    this.#begun.remove(job.begun);
    this.#said.remove(job.said);
  }
}

const NONE: UnfinishedJobs = new RowJobGroup();

function byId(a: KeptJob, b: KeptJob): number {
  return byText(a.id, b.id);
}
