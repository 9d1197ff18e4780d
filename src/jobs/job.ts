/**
 * One run of an agent.
 *
 *   pending ──▶ running ──▶ success | error | cancelled | timed_out
 *      └──────────────────────────▶ error | cancelled | timed_out
 *
 * It ends exactly once, and nothing is said after that. A job that finished is small: its input is
 * gone, and its events and its result stand in the stream of the session that owns it.
 */
import { RollcallError } from "../core/errors.ts";
import type { JobStatus, Outcome } from "../core/jobs/outcome.ts";
import type { ResultStream } from "../core/jobs/result-stream.ts";
import { isTerminal } from "../core/jobs/outcome.ts";
import type { Alarm } from "./alarms.ts";
import type { IssuedCredential } from "./provisioner.ts";
import type { Follower, JobOwner } from "./follower.ts";
import type { Grant } from "./grant.ts";
import type { LedgerRecord } from "./ledger.ts";
import { Spans, type Piece } from "./spans.ts";

/** What is said once, when the job is accepted. */
export interface JobTerms {
  readonly id: string;
  readonly owner: JobOwner;
  readonly agent: string;
  readonly agentName: string;
  readonly grant: Grant;
  readonly traceId: string;
  readonly createdAtMs: number;
  readonly maxRuntimeSec: number | undefined;
  readonly key: string | undefined;
  readonly fingerprint: string | undefined;
  readonly parent: Job | undefined;
  readonly delegateId: string | undefined;
  /** Of the request that made it. */
  readonly requestId: string | undefined;
  /** Its events stand after this in the owner's stream. */
  readonly from: number;
}

export class Job implements LedgerRecord {
  readonly id: string;
  readonly owner: JobOwner;
  readonly agent: string;
  readonly agentName: string;
  readonly grant: Grant;
  readonly traceId: string;
  readonly createdAtMs: number;
  readonly maxRuntimeSec: number | undefined;
  readonly key: string | undefined;
  readonly fingerprint: string | undefined;
  readonly parent: Job | undefined;
  readonly delegateId: string | undefined;
  readonly requestId: string | undefined;
  readonly from: number;

  status: JobStatus = "pending";
  /** Absent once it started and will not run again. */
  input: unknown;
  endedAtMs = 0;
  /** How it ended, but for the result, which stands in the stream. */
  ending: Exclude<Outcome, { status: "success" }> | undefined;
  /** Where its events stand in the owner's stream. */
  spans = new Spans();
  /** Set when somebody asked for its end. */
  cancelReason: string | undefined;
  /** How often it was started anew, after the process died. */
  restarts = 0;
  /** Whether it waits for a slot, as the ledger knows it. */
  isQueued = false;
  holdsSlot = false;
  /** Those who hear of it besides its owner; most jobs have none. */
  subscribers: Set<Follower> | undefined;
  running: RunningJob | undefined;

  constructor(terms: JobTerms, input: unknown) {
    this.id = terms.id;
    this.owner = terms.owner;
    this.agent = terms.agent;
    this.agentName = terms.agentName;
    this.grant = terms.grant;
    this.traceId = terms.traceId;
    this.createdAtMs = terms.createdAtMs;
    this.maxRuntimeSec = terms.maxRuntimeSec;
    this.key = terms.key;
    this.fingerprint = terms.fingerprint;
    this.parent = terms.parent;
    this.delegateId = terms.delegateId;
    this.requestId = terms.requestId;
    this.from = terms.from;
    this.input = input;
  }

  get principal(): string {
    return this.owner.principal;
  }

  get isOver(): boolean {
    return isTerminal(this.status);
  }

  get depth(): number {
    let depth = 0;
    for (let job = this.parent; job; job = job.parent) depth += 1;
    return depth;
  }

  /** Undefined fields are left out of the text; spreading some would cost more than all of it. */
  entry(): JobEntry {
    const { shape, expiresAtMs } = this.grant;
    const end = this.isOver ? this.endEntry() : undefined;
    return {
      t: "job",
      id: this.id,
      session: this.owner.id,
      agent: this.agent,
      name: this.agentName,
      trace: this.traceId,
      at: this.createdAtMs,
      lease: shape,
      expires: expiresAtMs,
      budget: this.grant.counters(),
      max: this.maxRuntimeSec,
      key: this.key,
      print: this.fingerprint,
      parent: this.parent?.id,
      delegate: this.delegateId,
      request: this.requestId,
      from: this.from,
      input: this.isOver ? undefined : this.input,
      queued: this.isQueued ? true : undefined,
      cancel: this.cancelReason,
      restarts: this.restarts === 0 ? undefined : this.restarts,
      status: end?.status,
      ended: end?.ended,
      ending: end?.ending,
      pieces: end?.pieces,
    };
  }

  /** What the ledger is told of its end. */
  endEntry(): JobEndEntry {
    return {
      status: this.status,
      ended: this.endedAtMs,
      ending: this.ending,
      pieces: this.spans.pieces,
    };
  }
}

/** What only a job that has not ended needs. */
export interface RunningJob {
  /** Only for who listens: most jobs are over before anybody asks. */
  abort: AbortController | undefined;
  isAborted: boolean;
  /** Once there is one. */
  children: Set<Job> | undefined;
  childrenEver: number;
  credentials: readonly IssuedCredential[];
  /** The W3C context its submitter sent along. */
  traceContext: TraceContext | undefined;
  /** The result so far, where it is streamed. */
  result: ResultStream | undefined;
  /** Its next deadline: the lease, the longest run, the grace after a cancel. */
  alarm: Alarm | undefined;
  startedAtMs: number;
  graceEndsMs: number;
}

export function newRunning(): RunningJob {
  return {
    abort: undefined,
    isAborted: false,
    children: undefined,
    childrenEver: 0,
    credentials: [],
    traceContext: undefined,
    result: undefined,
    alarm: undefined,
    startedAtMs: 0,
    graceEndsMs: Infinity,
  };
}

export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** Whoever listens to the signal is told to stop. */
export function abortRun(running: RunningJob, reason: string): void {
  running.isAborted = true;
  running.abort?.abort(new RollcallError("CANCELLED", reason));
}

/** A job as the ledger keeps it. */
export interface JobEntry extends Absent<JobEndEntry> {
  readonly t: "job";
  readonly id: string;
  readonly session: string;
  readonly agent: string;
  readonly name: string;
  readonly trace: string;
  readonly at: number;
  readonly lease: Readonly<Record<string, readonly string[]>>;
  readonly expires: number | undefined;
  readonly budget: Readonly<Record<string, string>> | undefined;
  readonly max: number | undefined;
  readonly key: string | undefined;
  readonly print: string | undefined;
  readonly parent: string | undefined;
  readonly delegate: string | undefined;
  readonly request: string | undefined;
  readonly from: number;
  readonly input: unknown;
  readonly queued: boolean | undefined;
  readonly cancel: string | undefined;
  readonly restarts: number | undefined;
}

type Absent<Fields> = { readonly [Field in keyof Fields]?: Fields[Field] | undefined };

export interface JobEndEntry {
  readonly status: JobStatus;
  readonly ended: number;
  readonly ending: Job["ending"];
  readonly pieces: readonly Piece[];
}
