/**
 * The agent's handle on its job, to report and to ask. Every report is an event of the job; every
 * request is decided by the lease and the budget.
 *
 * Each call returns a promise that is resolved already, unless events come faster than the disk
 * takes them: an agent that awaits is slowed down, one that does not is stopped at a limit. A
 * promise that rejects counts as handled, so an agent that does not look cannot take the process
 * with it.
 */
import { randomUUID } from "node:crypto";
import { RollcallError } from "../core/errors.ts";
import { remainingOf } from "../core/jobs/budget.ts";
import { amountText } from "../core/jobs/decimal.ts";
import type { JobLogLevel, MetricBody, VendorKind } from "../core/jobs/events.ts";
import type { JsonRecord } from "../core/json-object.ts";
import type { ChildJob, DelegateOptions } from "./delegation.ts";
import type { IssuedCredential } from "./provisioner.ts";
import { ResultWriter } from "./result-writer.ts";
import type { Run } from "./run.ts";

/** The part of the service that a context calls. */
export interface ContextHost {
  /** Checks and records an event; throws what is wrong with it. */
  say(run: Run, kind: string, body: unknown): Promise<void> | undefined;
  /** Throws unless the lease, its time and the budget allow it. */
  check(run: Run, namespace: string, target: string): void;
  delegate(run: Run, agent: string, options: DelegateOptions): Promise<ChildJob>;
  rotate(run: Run, credentialId: string): Promise<IssuedCredential>;
  newId(): string;
}

export interface ToolFailure {
  readonly code: string;
  readonly message: string;
  readonly retryable?: boolean;
}

const DONE = Promise.resolve();

export class JobContext {
  readonly #run: Run;
  readonly #host: ContextHost;
  #writer: ResultWriter | undefined;

  constructor(run: Run, host: ContextHost) {
    this.#run = run;
    this.#host = host;
  }

  get jobId(): string {
    return this.#run.id;
  }

  get principal(): string {
    return this.#run.job.principal;
  }

  /** `name@version`, or the bare name. */
  get agent(): string {
    return this.#run.job.agent;
  }

  /** 32 hex digits, shared with the children. */
  get traceId(): string {
    return this.#run.job.traceId ?? "";
  }

  /** Aborts when the job is cancelled, out of time, or over. */
  get signal(): AbortSignal {
    return this.#run.signal;
  }

  /** Namespace → patterns. */
  get lease(): Readonly<Record<string, readonly string[]>> {
    return this.#run.job.lease ?? {};
  }

  /** The remaining budget, by currency, in exact decimals. */
  get budget(): Readonly<Record<string, string>> {
    const remaining = remainingOf(this.#run.entry.purse);
    return Object.fromEntries([...remaining].map(([name, left]) => [name, amountText(left)]));
  }

  /** The credentials issued for this job, while it runs. */
  get credentials(): readonly IssuedCredential[] {
    return this.#run.isOver ? [] : this.#run.credentials;
  }

  log(level: JobLogLevel, message: string, attributes?: JsonRecord): Promise<void> {
    return this.emit("log", { level, message, attributes });
  }

  thought(text: string): Promise<void> {
    return this.emit("thought", { text });
  }

  status(phase: string, message?: string, more?: JsonRecord): Promise<void> {
    const body = message === undefined ? { phase } : { phase, message };
    return this.emit("status", more ? Object.assign({}, more, body) : body);
  }

  /** A cost in a currency of the budget is taken from it: `cost.…` with the currency as unit. */
  metric(
    name: string,
    value: number,
    more: Pick<MetricBody, "unit" | "dimensions"> = {},
  ): Promise<void> {
    return this.emit("metric", { name, value, unit: more.unit, dimensions: more.dimensions });
  }

  progress(
    current: number,
    more: { readonly total?: number; readonly units?: string; readonly message?: string } = {},
  ): Promise<void> {
    const { total, units, message } = more;
    return this.emit("progress", { current, total, units, message });
  }

  artifactRef(
    uri: string,
    contentType: string,
    more: { readonly byteSize?: number; readonly sha256?: string } = {},
  ): Promise<void> {
    const { byteSize, sha256 } = more;
    return this.emit("artifact_ref", {
      uri,
      content_type: contentType,
      byte_size: byteSize,
      sha256,
    });
  }

  /** Only what the lease allows under `tool.call`; a refusal is told as the tool's result too. */
  toolCall(tool: string, args?: unknown, callId: string = randomUUID()): Promise<string> {
    return handled(this.#toolCall(tool, args, callId));
  }

  async #toolCall(tool: string, args: unknown, callId: string): Promise<string> {
    await this.emit("tool_call", { tool, call_id: callId, args });
    try {
      this.authorize("tool.call", tool);
    } catch (error) {
      if (error instanceof RollcallError) await this.toolError(callId, error);
      throw error;
    }
    return callId;
  }

  toolResult(callId: string, result?: unknown): Promise<void> {
    return this.emit("tool_result", { call_id: callId, result });
  }

  toolError(callId: string, failure: ToolFailure): Promise<void> {
    const { code, message, retryable = false } = failure;
    return this.emit("tool_result", { call_id: callId, error: { code, message, retryable } });
  }

  /** An event of a vendor's kind, or any other by its name; drivers pass on what they are told. */
  emit(kind: VendorKind | (string & {}), body: JsonRecord): Promise<void> {
    try {
      return handled(this.#host.say(this.#run, kind, body) ?? DONE);
    } catch (error) {
      return handled(Promise.reject(error as Error));
    }
  }

  /** Throws LEASE_EXPIRED, BUDGET_EXHAUSTED or PERMISSION_DENIED, in that order. */
  authorize(namespace: string, target: string): void {
    this.#host.check(this.#run, namespace, target);
  }

  authorizeModel(model: string): void {
    this.authorize("model.use", model);
  }

  /** Runs another agent under a part of this job's lease and budget. */
  delegate(agent: string, options: DelegateOptions = {}): Promise<ChildJob> {
    return handled(this.#host.delegate(this.#run, agent, options));
  }

  /** The result in pieces, for what is too large for one frame. At most one for a job. */
  streamResult(): ResultWriter {
    if (this.#writer) throw new RollcallError("WRONG_STATE", "the result is streamed already");
    this.#writer = new ResultWriter({
      resultId: `res_${this.#host.newId()}`,
      chunkBytes: Math.floor((this.#run.owner?.frameBytes ?? Infinity) / 2),
      emit: (chunk) => this.emit("result_chunk", chunk),
    });
    return this.#writer;
  }

  rotateCredential(credentialId: string): Promise<IssuedCredential> {
    return handled(this.#host.rotate(this.#run, credentialId));
  }

  /** For the service: the result the agent began to stream, if any. */
  static writerOf(context: JobContext): ResultWriter | undefined {
    return context.#writer;
  }
}

function handled<T>(promise: Promise<T>): Promise<T> {
  if (promise !== (DONE as Promise<unknown>)) promise.catch(() => undefined);
  return promise;
}
