/**
 * A session that follows a job: a cursor on the job's stream. First what the stream has, then what
 * is added to it, without a gap and without a repeat in between.
 *
 *   reading ── the stream after `cursor`, a page at a time ──▶ live ──▶ over
 *
 * Its entries are numbered in the session's own stream, so after a crash it goes on after the last
 * number. The step from reading to live is made in one turn: what was added and the disk has not
 * yet is still in memory.
 */
import { ITSELF } from "../../../core/by.ts";
import { decodeEntry, isShown, jobStream } from "../../../core/job-stream.ts";
import { codeOf, RollcallError, wireCodes } from "../../../core/errors.ts";
import type { Job } from "../../../core/jobs.ts";
import type { Outcome } from "../../../core/jobs/outcome.ts";
import type { PositionedEntry, JobListener } from "../../../jobs/run.ts";
import type { Alarm } from "./alarms.ts";
import type { LiveSession } from "./session.ts";
import { SUBSCRIPTIONS } from "./session-limits.ts";
import type { LiveSessions } from "./sessions.ts";

/** Only the last entry of a job that ended: for it somebody waits. */
export const ONLY_THE_END = Number.MAX_SAFE_INTEGER;

export interface Subscriber {
  readonly sessions: LiveSessions;
  readonly session: LiveSession;
  readonly job: Job;
}

export interface StartPoint {
  /** The position after which it reads; `ONLY_THE_END`; undefined means only what is added. */
  readonly after: number | undefined;
  /** Entries that the session which submitted the job had up to this number are left out. */
  readonly ownerSeq?: number | undefined;
}

export class LiveSubscription implements JobListener {
  readonly jobId: string;
  /** The number of the last frame it gave. */
  lastSeq = 0;
  readonly #sessions: LiveSessions;
  readonly #session: LiveSession;
  readonly #ownerSeq: number;
  #cursor: number;
  /** Whether an entry was seen that the submitting session had after `ownerSeq`. */
  #isReached: boolean;
  #isLive = false;
  #isClosed = false;
  /** Rings when the store is asked once more. */
  #again: Alarm | undefined;

  constructor({ sessions, session, job }: Subscriber, beginning: StartPoint) {
    this.#sessions = sessions;
    this.#session = session;
    this.jobId = job.id;
    this.#ownerSeq = beginning.ownerSeq ?? 0;
    this.#isReached = this.#ownerSeq === 0;
    const run = sessions.jobs.run(job.id);
    this.#cursor = beginning.after ?? run?.head ?? ONLY_THE_END;
    session.subscriptions.get(job.id)?.close();
    session.subscriptions.set(job.id, this);
    if (beginning.after === undefined && run && !run.isOver) this.#goLive();
  }

  /** While it has given nothing yet; from then on all that follows is given. */
  get ownerSeq(): number | undefined {
    return this.#isReached ? undefined : this.#ownerSeq;
  }

  /** The cursor, to resume at after a crash. */
  get after(): number {
    return this.#cursor;
  }

  #goLive(): void {
    if (this.#isClosed) return;
    const run = this.#sessions.jobs.run(this.jobId);
    this.#isLive = true;
    if (run && !run.isOver) run.follow(this);
    else this.close();
  }

  /** Begins to read, once the client was told that it follows the job. */
  read(): void {
    if (this.#isLive || this.#isClosed) return;
    void this.#read().catch((error: unknown) => this.#fail(error));
  }

  /** A client that hears nothing more waits for ever: it is read again, or told why not. */
  #fail(error: unknown): void {
    if (this.#isClosed) return;
    const code = codeOf(error);
    if (wireCodes(code).retry === "never") {
      return this.deny(new RollcallError(code, "what the job said cannot be read"));
    }
    const { alarms } = this.#sessions;
    const onAlarm = () => this.read();
    this.#again = alarms.set(alarms.nowMs() + SUBSCRIPTIONS.againMs, { onAlarm });
  }

  async #read(): Promise<void> {
    const { streams, jobs } = this.#sessions;
    const stream = jobStream(this.jobId);
    const { head } = await streams.range(stream);
    const last = jobs.run(this.jobId)?.head ?? head;
    if (this.#cursor === ONLY_THE_END) this.#cursor = Math.max(0, last - 1);
    for (;;) {
      await this.#readDurable(stream).catch(unlessForgotten);
      if (this.#isClosed) return;
      const run = jobs.run(this.jobId);
      if (run && this.#cursor < run.durable) continue;
      // It ended meanwhile and is gone from memory: what it said last is on the disk.
      if (!run && this.#cursor < (await streams.range(stream)).head) continue;
      // From here to the end nothing is awaited.
      for (const heard of run?.pending ?? []) this.#take(heard);
      return this.#goLive();
    }
  }

  async #readDurable(stream: string): Promise<void> {
    const { streams, term } = this.#sessions;
    const { oldest } = await streams.range(stream);
    // At capacity the beginning may be gone; the rest of a history is better than none.
    this.#cursor = Math.max(this.#cursor, oldest - 1);
    let read = 0;
    for await (const { first, entries } of streams.read(stream, this.#cursor)) {
      for (const [index, text] of entries.entries()) {
        const job = this.#sessions.job(this.jobId);
        if (this.#isClosed || !job) return this.close();
        this.#take({ job, position: first + index, entry: decodeEntry(text) });
        read += 1;
        if (read % SUBSCRIPTIONS.read > 0) continue;
        await new Promise<void>((resolve) => term.after(resolve));
      }
    }
  }

  #take(heard: PositionedEntry): void {
    const { position, entry } = heard;
    if (position <= this.#cursor || this.#isClosed) return;
    this.#cursor = position;
    if (entry.seq > this.#ownerSeq) this.#isReached = true;
    if (this.#isReached) this.hear(heard);
    else if (entry.kind === "end") this.close();
  }

  hear(heard: PositionedEntry): number {
    this.#cursor = heard.position;
    if (!isShown(heard.entry)) return 0;
    const seq = this.#session.hear(heard);
    if (seq > 0) this.lastSeq = seq;
    if (heard.entry.kind === "end") this.close();
    return seq;
  }

  /** Its session may not follow the job any more: for that client the job ends with the reason. */
  deny({ code, message }: RollcallError): void {
    const job = this.#sessions.job(this.jobId);
    if (job) this.#session.tell(job, "end", { status: "error", code, message } satisfies Outcome);
    this.close();
  }

  /** The term of leading is over: the next one follows anew, from what is durable. */
  lose(): void {
    this.#isClosed = true;
    this.#sessions.alarms.cancel(this.#again);
  }

  /** Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.lose();
    const { jobs } = this.#sessions;
    jobs.run(this.jobId)?.followers?.delete(this);
    const { subscriptions, id: sessionId } = this.#session;
    if (subscriptions.get(this.jobId) === this) subscriptions.delete(this.jobId);
    if (!jobs.isLeading) return;
    // Mostly because the job ends, which is being written down: it cannot be refused.
    jobs.term.decide({ type: "session.unsubscribe", sessionId, jobId: this.jobId }, ITSELF);
  }
}

/** What was next is forgotten meanwhile: it goes on behind that. */
function unlessForgotten(error: unknown): void {
  if (codeOf(error) !== "OUT_OF_RANGE") throw error;
}
