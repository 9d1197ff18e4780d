/**
 * Jobs while they run: started, listened to, and ended exactly once.
 *
 *            start            the agent returns, throws
 *   pending ───────▶ running ───────────────────────────▶ over
 *      │                │ cancel: signal, then grace ──────▲
 *      └── cancel ──────┴── max_runtime, lease expired ────┘
 *
 * A cancel is a promise: once it was acknowledged the job ends as cancelled, even if its agent
 * takes no notice and returns a result. After the end the agent may go on, but nobody listens.
 */
import { codeOf, RollcallError } from "../core/errors.ts";
import { checkEvent } from "../core/jobs/event-reading.ts";
import type { JobEvent } from "../core/jobs/events.ts";
import { RESULT } from "../core/jobs/limits.ts";
import { checkChunk } from "../core/jobs/result-stream.ts";
import type { Outcome } from "../core/jobs/outcome.ts";
import type { Agents } from "./agents.ts";
import type { Alarms } from "./alarms.ts";
import { JobContext, type ContextHost } from "./context.ts";
import type { SaidEvent } from "./follower.ts";
import { abortRun, type Job } from "./job.ts";
import type { Ledger } from "./ledger.ts";
import { JOBS } from "./limits.ts";
import type { JobObserver, RunAround } from "./observer.ts";
import type { Recorder } from "./recorder.ts";

/** What surrounds a result in its frame. */
const HEAD_BYTES = 2048;
const NOBODY: readonly never[] = [];

export interface RunsOptions {
  readonly agents: Agents;
  readonly alarms: Alarms;
  readonly recorder: Recorder;
  readonly ledger: Ledger;
  readonly observers: readonly JobObserver[];
  readonly around: RunAround | undefined;
  readonly cancelGraceMs: number;
  readonly newId: () => string;
  readonly onTrouble: (what: string, error: unknown) => void;
  /** After everybody heard of it. */
  readonly onEnded: (job: Job, outcome: Outcome) => void;
  readonly host: Pick<ContextHost, "delegate" | "rotate">;
}

export class Runs implements ContextHost {
  readonly #options: RunsOptions;
  /** Jobs whose budget the ledger does not know yet. */
  readonly #spent = new Set<Job>();

  constructor(options: RunsOptions) {
    this.#options = options;
  }

  start(job: Job): void {
    if (job.isOver || !job.running) return;
    job.status = "running";
    job.running.startedAtMs = this.#options.alarms.nowMs();
    this.#setAlarm(job);
    this.observe((observer) => observer.onStarted?.(job));
    void this.#run(job);
  }

  async #run(job: Job): Promise<void> {
    const context = new JobContext(job, this);
    try {
      const { driver } = this.#options.agents.resolve(job.agent);
      const { input } = job;
      const { around } = this.#options;
      const run = () => driver.run(input, context);
      const value = await (around ? around(job, run) : run());
      if (!job.isOver) this.end(job, await this.#outcomeOf(job, context, value));
    } catch (error) {
      this.end(job, failureOf(error));
    }
  }

  /** The result as it goes out: inline, or in chunks when it is too large for a frame. */
  async #outcomeOf(job: Job, context: JobContext, value: unknown): Promise<Outcome> {
    const isNothing = value === undefined || value === null;
    const streamed = job.running?.result;
    if (streamed && !isNothing) {
      throw new RollcallError("INVALID_ARGUMENT", "the agent streamed a result and returned one");
    }
    let writer = JobContext.writerOf(context);
    if (!streamed && !isNothing) {
      const text = textOf(value) ?? "null";
      const most = Math.min(RESULT.inlineBytes, job.owner.frameBytes - HEAD_BYTES);
      if (text.length * 3 <= most || Buffer.byteLength(text) <= most) {
        return { status: "success", result: { form: "inline", value } };
      }
      writer ??= context.streamResult();
      await writer.write(text);
    }
    await writer?.end();
    const result = job.running?.result;
    if (!result) return { status: "success", result: { form: "none" } };
    if (!result.isEnded) {
      throw new RollcallError("INVALID_ARGUMENT", "the streamed result was not ended");
    }
    const { resultId, size } = result;
    const told = {
      form: "streamed",
      resultId,
      size,
      isJson: !isNothing || writer?.isJson === true,
    } as const;
    const summary = writer?.summary;
    return { status: "success", result: told, ...(summary !== undefined && { summary }) };
  }

  say(job: Job, kind: string, body: unknown): Promise<void> | undefined {
    if (job.isOver) throw new RollcallError("CANCELLED", `${job.id} is over`);
    const room = this.#options.recorder.room();
    const checked = checkEvent(kind, body);
    if (!checked.ok) throw new RollcallError(checked.code, checked.reason);
    const { event } = checked;
    if (event.kind === "result_chunk" && job.running) {
      if (!job.owner.takesChunks) {
        const reason = "the result needs chunks, and its client did not agree on result_chunk";
        throw new RollcallError("UNIMPLEMENTED", reason);
      }
      const chunk = checkChunk(job.running.result, event.body);
      if (!chunk.ok) throw new RollcallError(chunk.code, chunk.reason);
      job.running.result = chunk.stream;
    }
    if (event.kind === "metric") this.#saidMetric(job, event);
    else this.tell(job, event);
    return room;
  }

  /** Costs are taken from the budget before anybody hears of them, and what is left is told. */
  #saidMetric(job: Job, event: JobEvent & { readonly kind: "metric" }): void {
    const charged = job.grant.charge(event.body);
    this.tell(job, event);
    if (!charged) return;
    this.keepBudget(job);
    if (charged.left) this.tell(job, { kind: "metric", body: charged.left });
  }

  /** The ledger learns what is left, once a turn. */
  keepBudget(job: Job): void {
    if (this.#spent.size === 0) queueMicrotask(() => this.#writeSpent());
    // What a child spends in a currency of its parent's is its parent's cost.
    for (let each: Job | undefined = job; each; each = each.parent) this.#spent.add(each);
  }

  #writeSpent(): void {
    for (const job of this.#spent) {
      if (!job.isOver) this.change(job, { budget: job.grant.counters() });
    }
    this.#spent.clear();
  }

  /** To all who follow. */
  tell(job: Job, event: JobEvent): void {
    const said: SaidEvent = { event, atMs: this.#options.alarms.clock.wallMs(), text: undefined };
    job.owner.onEvent(job, said);
    for (const each of job.subscribers ?? NOBODY) each.onEvent(job, said);
    this.observe((observer) => observer.onEvent?.(job, event));
  }

  check(job: Job, namespace: string, target: string): void {
    const nowMs = this.#options.alarms.clock.wallMs();
    const isExpired = nowMs >= (job.grant.expiresAtMs ?? Infinity);
    if (job.isOver && !isExpired) throw new RollcallError("CANCELLED", `${job.id} is over`);
    job.grant.check(namespace, target, nowMs);
  }

  delegate: ContextHost["delegate"] = (job, agent, options) =>
    this.#options.host.delegate(job, agent, options);

  rotate: ContextHost["rotate"] = (job, credentialId) =>
    this.#options.host.rotate(job, credentialId);

  newId(): string {
    return this.#options.newId();
  }

  /** False when it is over already. Children go with it. */
  cancel(job: Job, reason: string): boolean {
    if (job.isOver) return false;
    if (job.cancelReason !== undefined) return true;
    job.cancelReason = reason.slice(0, JOBS.reasonLength);
    const { running } = job;
    if (job.status === "pending" || !running) {
      this.end(job, { status: "cancelled", reason: job.cancelReason });
      return true;
    }
    this.change(job, { cancel: job.cancelReason });
    running.graceEndsMs = this.#options.alarms.nowMs() + this.#options.cancelGraceMs;
    this.#setAlarm(job);
    abortRun(running, `${job.id} was cancelled`);
    for (const child of running.children ?? NOBODY) {
      this.cancel(child, `parent ${job.id} was cancelled`);
    }
    return true;
  }

  /** The one end. What comes too late changes nothing. */
  end(job: Job, outcome: Outcome): void {
    const { running } = job;
    if (job.isOver || !running) return;
    const wasCancelled = job.cancelReason !== undefined && outcome.status !== "timed_out";
    const final: Outcome =
      wasCancelled && !isExpiry(outcome)
        ? { status: "cancelled", reason: job.cancelReason ?? "" }
        : outcome;
    job.status = final.status;
    job.ending = final.status === "success" ? undefined : final;
    job.endedAtMs = this.#options.alarms.clock.wallMs();
    job.owner.onEnded(job, final);
    for (const each of job.subscribers ?? NOBODY) each.onEnded(job, final);
    const { status, ended, ending, pieces } = job.endEntry();
    this.#options.ledger.change({ t: "job+", id: job.id, status, ended, ending, pieces });
    this.observe((observer) => observer.onEnded?.(job, final));
    this.#options.alarms.cancel(running.alarm);
    job.running = undefined;
    job.input = undefined;
    abortRun(running, `${job.id} is over`);
    for (const child of running.children ?? NOBODY) this.cancel(child, `parent ${job.id} ended`);
    this.#options.onEnded(job, final);
  }

  /** A change of what the ledger knows. */
  change(job: Job, fields: object): void {
    this.#options.ledger.change({ t: "job+", id: job.id, ...fields });
  }

  /** Also before the start: a lease may expire in the queue. */
  #setAlarm(job: Job): void {
    const { alarms } = this.#options;
    const { running, grant, maxRuntimeSec = Infinity } = job;
    if (!running) return;
    const nowMs = alarms.nowMs();
    const expiresInMs = (grant.expiresAtMs ?? Infinity) - alarms.clock.wallMs();
    const runsUntilMs =
      job.status === "running" ? running.startedAtMs + maxRuntimeSec * 1000 : Infinity;
    const nextMs = Math.min(nowMs + expiresInMs, runsUntilMs, running.graceEndsMs);
    alarms.cancel(running.alarm);
    running.alarm =
      nextMs === Infinity ? undefined : alarms.set(nextMs, { onAlarm: () => this.#ring(job) });
  }

  watchDeadlines(job: Job): void {
    this.#setAlarm(job);
  }

  #ring(job: Job): void {
    const { running, grant, maxRuntimeSec = Infinity } = job;
    if (!running) return;
    const nowMs = this.#options.alarms.nowMs();
    const wallMs = this.#options.alarms.clock.wallMs();
    if (wallMs >= (grant.expiresAtMs ?? Infinity)) {
      const message = "the lease of the job expired";
      this.end(job, { status: "error", code: "LEASE_EXPIRED", message });
    } else if (job.status === "running" && nowMs >= running.startedAtMs + maxRuntimeSec * 1000) {
      this.end(job, { status: "timed_out", message: `ran longer than ${maxRuntimeSec} s` });
    } else if (nowMs >= running.graceEndsMs) {
      this.end(job, { status: "cancelled", reason: job.cancelReason ?? "" });
    } else this.#setAlarm(job);
  }

  observe(call: (observer: JobObserver) => void): void {
    const { observers, recorder } = this.#options;
    if (observers.length === 0) return;
    recorder.after(() => {
      for (const observer of observers) this.#tellObserver(observer, call);
    });
  }

  /** One that fails takes nothing from the others, nor from those who wait for an answer. */
  #tellObserver(observer: JobObserver, call: (observer: JobObserver) => void): void {
    try {
      call(observer);
    } catch (error) {
      this.#options.onTrouble("an observer of jobs failed", error);
    }
  }
}

function isExpiry(outcome: Outcome): boolean {
  return outcome.status === "error" && outcome.code === "LEASE_EXPIRED";
}

/** The text of a result; undefined for none. Throws for what JSON cannot say. */
function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new RollcallError("INTERNAL", "the agent returned what is not JSON", { cause });
  }
}

/** What the agent threw is its answer: the text is told, nothing else of it. */
function failureOf(error: unknown): Outcome {
  const message = error instanceof Error ? error.message : "the agent failed";
  const details = detailsOf(error);
  return {
    status: "error",
    code: codeOf(error),
    message: message.slice(0, JOBS.reasonLength),
    ...(details && { details }),
  };
}

function detailsOf(error: unknown): Readonly<Record<string, unknown>> | undefined {
  const details = error instanceof Error && "details" in error ? error.details : undefined;
  if (typeof details !== "object" || details === null || Array.isArray(details)) return undefined;
  // They are part of the last frame of the job, which must go out whatever is in them.
  const text = textOf(details);
  return text === undefined || text.length > JOBS.detailsLength ? undefined : { ...details };
}
