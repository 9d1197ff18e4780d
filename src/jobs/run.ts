/**
 * A job that has not ended, in the memory of the daemon that runs it: its agent, its children, and
 * those that hear what it says. What must last of it is in the state and in its stream.
 *
 * It writes its stream: entries are added one at a time and go to the disk with the open batch of
 * the engine. The session that submitted the job numbers each entry as it is added; those that
 * follow it hear of it in the same moment, so all of them are written in one commit.
 */
import { RollcallError } from "../core/errors.ts";
import { encodeEntry, jobStream, type JobStreamEntry } from "../core/job-stream.ts";
import type { Outcome } from "../core/jobs/outcome.ts";
import type { ResultStream } from "../core/jobs/result-stream.ts";
import { isTerminal } from "../core/jobs/outcome.ts";
import { countersOf } from "../core/jobs/budget.ts";
import type { Job, JobEntry } from "../core/jobs.ts";
import type { StreamWriter } from "../engine/batch.ts";
import { STREAM } from "./limits.ts";
import type { IssuedCredential } from "./provisioner.ts";

/** An entry in its place. */
export interface PositionedEntry {
  readonly job: Job;
  readonly position: number;
  readonly entry: JobStreamEntry;
  /** Of an end that was just decided: its body, before it became text. */
  readonly outcome?: Outcome | undefined;
}

/** A session that hears a job: the one that submitted it, or one that follows it. */
export interface JobListener {
  /** The number of the frame that this entry becomes there; 0 where it becomes none. */
  hear(heard: PositionedEntry): number;
}

/** The session that submitted the job. */
export interface Owner extends JobListener {
  /** The largest frame that can be sent to it now. */
  readonly frameBytes: number;
  /** Whether it can be told of a result in chunks. */
  readonly takesChunks: boolean;
}

export type OwnerOf = (sessionId: string) => Owner | undefined;

export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** The part of a job that only this process knows, from its submit to its end. */
export interface RunTerms {
  readonly input: unknown;
  readonly parent: Run | undefined;
  /** Of a session; the same function for every run, so that a run keeps nothing of its submit. */
  readonly ownerOf: OwnerOf;
  readonly credentials?: readonly IssuedCredential[];
  readonly traceContext?: TraceContext | undefined;
}

/** Where the stream of a job begins and ends, and what stands in it. */
export interface StreamFill {
  readonly oldest: number;
  readonly head: number;
  /** About what it weighs. */
  readonly bytes: number;
  /** The number of its last entry in the session that submitted it. */
  readonly lastSeq: number;
  /** The input, as it was given, where it may be needed again. */
  readonly inputText: string;
  /** The last entries that have the input and the budget; 0 where there is none. */
  readonly inputAt: number;
  readonly budgetAt: number;
}

/** An entry that is not durable yet; its number is known once its owner heard of it. */
type PendingEntry = { -readonly [Field in keyof JobStreamEntry]: JobStreamEntry[Field] };

export class Run implements StreamWriter, StreamFill {
  readonly id: string;
  readonly stream: string;
  readonly input: unknown;
  readonly parent: Run | undefined;
  readonly traceContext: TraceContext | undefined;
  credentials: readonly IssuedCredential[];
  /** Subscribers besides its owner; most jobs have none. */
  followers: Set<JobListener> | undefined;
  /** The result so far, where it is streamed. */
  result: ResultStream | undefined;
  /** Whether its stream has yet to learn what is left of its budget. */
  isBudgetDue = false;
  /** Whether the log has yet to learn that what it asks changed with its budget. */
  isQuestionDue = false;
  /** How its agent ended, until that is decided. */
  outcome: Outcome | undefined;
  oldest = 1;
  head = 0;
  bytes = 0;
  lastSeq = 0;
  inputText = "";
  inputAt = 0;
  budgetAt = 0;
  readonly #entry: JobEntry;
  readonly #ownerOf: OwnerOf;
  #abort: AbortController | undefined;
  #isAborted = false;
  #isLost = false;
  #gathering: string[] = [];
  /** Entries that are not durable yet, oldest first, and how many of them each batch has. */
  readonly #pending: PositionedEntry[] = [];
  readonly #batches: number[] = [];

  constructor(entry: JobEntry, terms: RunTerms) {
    this.#entry = entry;
    this.#ownerOf = terms.ownerOf;
    this.id = entry.job.id;
    this.stream = jobStream(entry.job.id);
    this.input = terms.input;
    this.parent = terms.parent;
    this.credentials = terms.credentials ?? [];
    this.traceContext = terms.traceContext;
  }

  get job(): Job {
    return this.#entry.job;
  }

  /** Its lease and its purse, for the rules. */
  get entry(): JobEntry {
    return this.#entry;
  }

  get owner(): Owner | undefined {
    return this.#ownerOf(this.job.session ?? "");
  }

  /** Whether the job ended, or this run of it did: with the term of leading that it began in. */
  get isOver(): boolean {
    return this.#isLost || isTerminal(this.job.status);
  }

  /** Aborts when the job is cancelled, out of time, or over. */
  get signal(): AbortSignal {
    if (this.#isAborted) return AbortSignal.abort();
    this.#abort ??= new AbortController();
    return this.#abort.signal;
  }

  follow(listener: JobListener): void {
    this.followers ??= new Set();
    this.followers.add(listener);
  }

  abort(reason: string): void {
    this.#isAborted = true;
    this.#abort?.abort(new RollcallError("CANCELLED", reason));
  }

  /** Its agent may go on and take no notice; nothing comes of it any more. */
  lose(reason: string): void {
    this.#isLost = true;
    this.abort(reason);
  }

  /** Entries that nobody can read from the disk yet. */
  get pending(): readonly PositionedEntry[] {
    return this.#pending;
  }

  /** The position up to which its stream is durable. */
  get durable(): number {
    return this.head - this.#pending.length;
  }

  /** The writer has joined the open batch for this. */
  add(given: Omit<JobStreamEntry, "seq">, outcome?: Outcome): PositionedEntry {
    this.head += 1;
    const { atMs, kind, body } = given;
    const entry: PendingEntry = { atMs, seq: 0, kind, body };
    const heard: PositionedEntry = { job: this.job, position: this.head, entry, outcome };
    entry.seq = this.owner?.hear(heard) ?? 0;
    if (entry.seq > 0) this.lastSeq = entry.seq;
    for (const follower of this.followers ?? NOBODY) follower.hear(heard);
    const text = encodeEntry(entry);
    this.bytes += text.length;
    this.#gathering.push(text);
    this.#pending.push(heard);
    return heard;
  }

  take(): readonly string[] {
    // The event of its end says what was left, and nothing comes after its last entry. A run that
    // is lost with its term still writes it: the entries that spent it are in this batch.
    if (this.isBudgetDue && !isTerminal(this.job.status)) {
      this.isBudgetDue = false;
      const body = JSON.stringify(countersOf(this.#entry.purse) ?? {});
      this.budgetAt = this.add({ atMs: this.job.startedAtMs, kind: "budget", body }).position;
    }
    const taken = this.#gathering;
    this.#gathering = [];
    this.#batches.push(taken.length);
    return taken;
  }

  onDurable(): void {
    this.#pending.splice(0, this.#batches.shift() ?? 0);
  }

  /** Counts the oldest entries beyond what is kept as gone: gives the last of them, or 0. */
  trim(kept: { readonly events: number; readonly bytes: number }): number {
    const count = this.durable - this.oldest + 1;
    const most = this.bytes <= kept.bytes ? kept.events : (count * kept.bytes) / this.bytes;
    const fits = Math.max(STREAM.leastEntries, Math.floor(most));
    const going = count - fits;
    if (going < Math.min(STREAM.trimEntries, fits)) return 0;
    this.bytes -= (this.bytes * going) / count;
    this.oldest += going;
    return this.oldest - 1;
  }
}

const NOBODY: readonly never[] = [];
