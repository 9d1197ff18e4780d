/**
 * Tells the engine of jobs, so that whoever watches the bus sees them begin and end. It tells how
 * a job is, and the rules make events of it: so what piles up while the engine is busy is told in
 * one go, a job that is over before anybody was told of it costs one command, and after a crash
 * everything is told again without anything happening twice.
 *
 *   job changed ──▶ untold ──a batch at a time──▶ engine
 *                     ▲─────── it could not ─────────┘
 */
import { codeOf } from "../core/errors.ts";
import { asLine } from "../core/fields.ts";
import type { JobRecord } from "../core/job-records.ts";
import type { Outcome } from "../core/jobs/outcome.ts";
import { isTerminal } from "../core/jobs/outcome.ts";
import { FIELD } from "../core/limits.ts";
import type { Clock } from "../core/clock.ts";
import type { Engine } from "../engine/engine.ts";
import type { Job } from "./job.ts";
import type { JobIndex } from "./listing.ts";
import { TRACKING } from "./limits.ts";
import type { JobObserver } from "./observer.ts";

export interface JobTrackerOptions {
  readonly engine: Pick<Engine, "execute" | "read" | "node">;
  readonly clock: Clock;
  readonly onTrouble: (what: string, error: unknown) => void;
}

export class JobTracker implements JobObserver {
  readonly #options: JobTrackerOptions;
  readonly #untold = new Map<string, JobRecord>();
  readonly #startedAtMs = new WeakMap<Job, number>();
  #telling: Promise<void> | undefined;
  #stopTimer: (() => void) | undefined;
  #isClosed = false;

  constructor(options: JobTrackerOptions) {
    this.#options = options;
  }

  /** How many jobs the engine has yet to hear of. */
  get untold(): number {
    return this.#untold.size;
  }

  /** Whether it hears of them so late that there should be no more for now. */
  get isBehind(): boolean {
    return this.#untold.size >= TRACKING.untold;
  }

  onAccepted(job: Job): void {
    this.#note(job);
  }

  onStarted(job: Job): void {
    this.#startedAtMs.set(job, this.#options.clock.wallMs());
    this.#note(job, { status: "running" });
  }

  onEnded(job: Job, outcome: Outcome): void {
    this.#note(job, endOf(job, outcome));
  }

  /**
   * After a start: what the engine missed of jobs that were there before, and those of ours that
   * it believes in and nobody here knows any more. What happens from `sinceMs` on is told as ever.
   */
  async reconcile(jobs: Pick<JobIndex, "get" | "all">, sinceMs: number): Promise<void> {
    const { engine, clock } = this.#options;
    const lost = { status: "error", code: "UNAVAILABLE", reason: LOST } as const;
    const known = await engine.read((state) => {
      const ours = [...state.jobs.byId.values()].filter(({ job }) => job.node === engine.node);
      return new Map(ours.map(({ job }) => [job.id, job]));
    });
    for (const record of known.values()) {
      if (isTerminal(record.status) || jobs.get(record.id)) continue;
      this.#add({ ...record, ...lost, endedAtMs: clock.wallMs() });
    }
    for (const job of jobs.all()) {
      if (job.endedAtMs >= sinceMs || known.get(job.id)?.status === job.status) continue;
      this.#note(job, job.isOver ? endOf(job, job.ending) : {});
    }
  }

  /** Tells what is left. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTimer?.();
    await this.#telling;
    while (this.#untold.size > 0 && (await this.#tellSome())) continue;
  }

  #note(job: Job, more: Partial<JobRecord> = {}): void {
    const { engine } = this.#options;
    this.#add({
      id: job.id,
      agent: job.agent,
      principal: asLine(job.principal, FIELD.keyLength),
      node: engine.node,
      parent: job.parent?.id ?? "",
      status: "pending",
      submittedAtMs: job.createdAtMs,
      startedAtMs: this.#startedAtMs.get(job) ?? 0,
      endedAtMs: 0,
      restarts: job.restarts,
      code: "",
      reason: "",
      ...more,
    });
  }

  #add(record: JobRecord): void {
    this.#untold.set(record.id, record);
    if (!this.#telling && !this.#stopTimer && !this.#isClosed) this.#telling = this.#tell();
  }

  /** Batch after batch; what comes meanwhile is in the next one. */
  async #tell(): Promise<void> {
    await new Promise(setImmediate);
    while (this.#untold.size > 0 && !this.#isClosed) {
      if (await this.#tellSome()) continue;
      this.#stopTimer = this.#options.clock.after(TRACKING.retryMs, () => {
        this.#stopTimer = undefined;
        this.#telling = this.#tell();
      });
      break;
    }
    this.#telling = undefined;
  }

  /** False when it is better to wait. */
  async #tellSome(): Promise<boolean> {
    const jobs: JobRecord[] = [];
    for (const record of this.#untold.values()) if (jobs.push(record) === FIELD.jobs) break;
    for (const { id } of jobs) this.#untold.delete(id);
    let left: readonly JobRecord[] = jobs;
    try {
      const reply = await this.#options.engine.execute({ type: "job.track", jobs });
      left = jobs.filter(({ id }) => reply.left.includes(id));
    } catch (error) {
      this.#options.onTrouble("jobs could not be told of", error);
      // What the rules do not take they will not take later.
      if (codeOf(error) === "INVALID_ARGUMENT") return true;
    }
    for (const record of left) {
      if (!this.#untold.has(record.id)) this.#untold.set(record.id, record);
    }
    return left.length === 0;
  }
}

const LOST = "the daemon that ran it no longer knows it";

function endOf(job: Job, outcome: Outcome | undefined): Partial<JobRecord> {
  const { status, endedAtMs } = job;
  const end = { status, endedAtMs };
  switch (outcome?.status) {
    case "error":
      return { ...end, code: outcome.code, reason: asLine(outcome.message, FIELD.reasonLength) };
    case "cancelled":
      return { ...end, reason: asLine(outcome.reason, FIELD.reasonLength) };
    case "timed_out":
      return { ...end, reason: asLine(outcome.message, FIELD.reasonLength) };
    case "success":
    case undefined:
      return end;
  }
}
