/**
 * The events of jobs: checked, charged to their budgets, and written to their streams.
 *
 * A job reports its costs as metrics. The remainder is written beside them, once a batch, to the
 * stream of the job and of its ancestors: so a budget is as exact after a crash as before.
 */
import { ITSELF } from "../core/by.ts";
import { isErrorCode, refusalError, RollcallError } from "../core/errors.ts";
import { feel, feelBudget, isWorthLogging, newPulse } from "../core/job-progress.ts";
import {
  charge,
  costOf,
  isWorthTelling,
  remainingMetric,
  remainingOf,
  type Cost,
} from "../core/jobs/budget.ts";
import type { Amount } from "../core/jobs/decimal.ts";
import { checkBodySize, checkEvent } from "../core/jobs/event-reading.ts";
import type { JobStreamEvent, MetricBody } from "../core/jobs/events.ts";
import type { Outcome } from "../core/jobs/outcome.ts";
import { checkChunk } from "../core/jobs/result-stream.ts";
import type { JobStep } from "../core/jobs.ts";
import type { Term } from "../engine/companion.ts";
import type { Run } from "./run.ts";

export interface JobEventsOptions {
  /** Throws while this node does not lead. */
  readonly term: () => Term;
  readonly onEvent: (run: Run, event: JobStreamEvent) => void;
}

/**
 * About what an entry weighs in memory beside its body, until it is durable. Counted by its text
 * alone a batch would gather so many small entries that to collect the garbage takes longer than
 * to write them.
 */
const ENTRY_WEIGHT = 320;
/** Events that are no steps are considered for the log no more often than this. */
const NOTICE_MS = 1_000;

export class JobEvents {
  readonly #options: JobEventsOptions;
  /** The last reported remainder of each currency of a job's budget. */
  readonly #told = new WeakMap<Run, Map<string, Amount>>();

  constructor(options: JobEventsOptions) {
    this.#options = options;
  }

  /** Resolves, or is undefined, when the job may say more; throws what is wrong with the event. */
  say(run: Run, kind: string, body: unknown): Promise<void> | undefined {
    if (run.isOver) throw new RollcallError("CANCELLED", `${run.id} is over`);
    const checked = checkEvent(kind, body);
    if (!checked.ok) throw refusalError(checked);
    const { event } = checked;
    if (event.kind === "result_chunk") this.#checkChunk(run, event);
    if (event.kind === "metric") this.#sayMetric(run, event);
    else this.tell(run, event);
    return this.#options.term().room();
  }

  #checkChunk(run: Run, { body }: JobStreamEvent & { readonly kind: "result_chunk" }): void {
    if (run.owner?.takesChunks === false) {
      const reason = "the result needs chunks, but its client did not negotiate result_chunk";
      throw new RollcallError("UNIMPLEMENTED", reason);
    }
    const chunk = checkChunk(run.result, body);
    if (!chunk.ok) throw refusalError(chunk);
    run.result = chunk.stream;
  }

  /** Costs are charged to the budget before they are published; the remainder follows. */
  #sayMetric(run: Run, event: JobStreamEvent & { readonly kind: "metric" }): void {
    const cost = costOf(event.body);
    if (cost && "ok" in cost) throw refusalError(cost);
    this.tell(run, event);
    if (!cost || !charge(run.entry.purse, cost.currency, cost.amount)) return;
    this.keepBudget(run);
    const left = this.#leftAfter(run, cost);
    if (left) this.tell(run, { kind: "metric", body: left });
  }

  #leftAfter(run: Run, { currency }: Cost): MetricBody | undefined {
    const { purse } = run.entry;
    const left = remainingOf(purse).get(currency) ?? 0n;
    const granted = purse.granted.get(currency) ?? 0n;
    const told = this.#told.get(run) ?? new Map<string, Amount>();
    if (!isWorthTelling(granted, told.get(currency) ?? granted, left)) return undefined;
    told.set(currency, left);
    this.#told.set(run, told);
    return remainingMetric(currency, left);
  }

  /** Writes the remainder to the stream of the job and of its ancestors. */
  keepBudget(run: Run): void {
    const term = this.#options.term();
    for (let each: Run | undefined = run; each; each = each.parent) {
      term.felt(each.job);
      if (each.isOver || each.entry.purse.remaining.size === 0) continue;
      term.join(each, ENTRY_WEIGHT);
      each.isBudgetDue = true;
      this.#noticeBudget(each);
    }
  }

  /** A budget that is used up, or no longer is, changes what the job asks of a person. */
  #noticeBudget(run: Run): void {
    const { pulse, purse, progress: logged } = run.entry;
    const term = this.#options.term();
    if (!pulse || !feelBudget(pulse, { purse, logged, nowMs: term.nowMs() })) return;
    if (run.isQuestionDue) return;
    run.isQuestionDue = true;
    // The event that changed it may be one of several that are being decided together.
    term.after(() => this.#logQuestion(run));
  }

  #logQuestion(run: Run): void {
    run.isQuestionDue = false;
    const { pulse, purse, progress = { atMs: run.job.startedAtMs } } = run.entry;
    if (run.isOver || !pulse || !isWorthLogging(pulse, purse, progress)) return;
    try {
      this.#options.term().decide({ type: "job.progress", jobId: run.id }, ITSELF);
    } catch (error) {
      // Too much waits for the disk: it is told with the next thing that the job says.
      if (!(error instanceof RollcallError)) throw error;
    }
  }

  tell(run: Run, event: JobStreamEvent): void {
    const body = JSON.stringify(event.body);
    const tooLarge = checkBodySize(body);
    if (tooLarge) throw refusalError(tooLarge);
    this.#options.term().reserve(body.length + ENTRY_WEIGHT);
    this.#tell(run, event, body);
  }

  /** The job runs again: that is decided already, and cannot be refused any more. */
  tellRestart(run: Run): void {
    const body = { phase: "restarted" };
    this.#tell(run, { kind: "status", body }, JSON.stringify(body));
  }

  #tell(run: Run, event: JobStreamEvent, body: string): void {
    this.#write(run, event.kind, body);
    this.#notice(run, event);
    this.#options.onEvent(run, event);
  }

  /** Needed again, by a job that waits for a slot or runs again after a crash. */
  keepInput(run: Run): void {
    run.inputText = JSON.stringify(run.input ?? null);
    run.inputAt = this.#write(run, "input", run.inputText);
  }

  /** Writes again what a start needs of the entries up to `through`: they are about to go. */
  keepAgain(run: Run, through: number): void {
    const isGoing = (position: number) => position > 0 && position <= through;
    if (isGoing(run.inputAt)) run.inputAt = this.#write(run, "input", run.inputText);
    if (isGoing(run.budgetAt)) this.keepBudget(run);
  }

  /** The last entry, with the result. */
  end(run: Run, outcome: Outcome): void {
    const body = JSON.stringify(outcome);
    this.#options.term().join(run, body.length + ENTRY_WEIGHT);
    run.add({ atMs: run.job.endedAtMs, kind: "end", body }, outcome);
  }

  /** Gives the position. */
  #write(run: Run, kind: string, body: string): number {
    const term = this.#options.term();
    term.join(run, body.length + ENTRY_WEIGHT);
    return run.add({ atMs: term.nowMs(), kind, body }).position;
  }

  /** Updates the progress that the fleet shows; now and then it is logged, too. */
  #notice(run: Run, event: JobStreamEvent): void {
    const { entry } = run;
    const term = this.#options.term();
    const nowMs = term.nowMs();
    const { startedAtMs } = entry.job;
    entry.pulse ??= newPulse(nowMs);
    const isUrgent = feel(entry.pulse, event, nowMs);
    term.felt(entry.job);
    const isStep = isUrgent || event.kind === "status" || event.kind === "progress";
    if (!isStep && nowMs - (entry.progress?.atMs ?? startedAtMs) < NOTICE_MS) return;
    const logged = entry.progress ?? { atMs: startedAtMs };
    if (!isWorthLogging(entry.pulse, entry.purse, logged)) return;
    term.decide({ type: "job.progress", jobId: run.id }, ITSELF);
  }
}

/** How a job ended, where nobody knows more than its record. */
export function outcomeOf({ status, code = "", reason = "" }: JobStep): Outcome {
  switch (status) {
    case "cancelled":
      return { status, reason };
    case "timed_out":
      return { status, message: reason };
    case "success":
      return { status, result: { form: "none" } };
    case "error":
    case "pending":
    case "running":
      return { status: "error", code: isErrorCode(code) ? code : "INTERNAL", message: reason };
  }
}
