/**
 * A session that follows a job: first its history, then what it says from now on, without a gap
 * and without a repeat in between.
 *
 *   copying ── reads the owner's stream after `cursor`, a piece at a time ──▶ live ──▶ over
 *
 * What is copied and how far is recorded in the same turn, and so is every live event with the
 * owner's own: after a crash it goes on exactly where it was. The step from copying to live is made
 * in one turn: what the owner's stream got and the disk has not is still in memory.
 */
import type { JobEvent } from "../../../core/jobs/events.ts";
import type { Outcome } from "../../../core/jobs/outcome.ts";
import type { Follower, SaidEvent } from "../../../jobs/follower.ts";
import type { Job } from "../../../jobs/job.ts";
import type { LedgerRecord } from "../../../jobs/ledger.ts";
import { endingOf } from "../codec/endings.ts";
import { payloadOf } from "../codec/said.ts";
import { streamOf, type Session } from "./session.ts";
import { SUBSCRIPTIONS } from "./session-limits.ts";
import type { Sessions } from "./sessions.ts";

export interface SubscriptionEntry {
  readonly t: "sub";
  readonly s: string;
  readonly j: string;
  /** Through where the owner's stream was copied. */
  readonly at: number;
  readonly live: boolean;
}

const PAYLOAD = ',"payload":';

export class Subscription implements Follower, LedgerRecord {
  readonly job: Job;
  /** The number of the last event it gave. */
  lastSeq = 0;
  readonly #sessions: Sessions;
  readonly #session: Session;
  #cursor = 0;
  #isLive = false;
  #isClosed = false;

  constructor(sessions: Sessions, session: Session, job: Job) {
    this.#sessions = sessions;
    this.#session = session;
    this.job = job;
    session.subscriptions.get(job.id)?.close();
    session.subscriptions.set(job.id, this);
  }

  entry(): SubscriptionEntry {
    const { id: s } = this.#session;
    return { t: "sub", s, j: this.job.id, at: this.#cursor, live: this.#isLive };
  }

  /** From the owner's numbers after `cursor`; undefined means only what comes. */
  start(cursor: number | undefined): void {
    this.#cursor = cursor ?? this.job.owner.head;
    this.#isLive = cursor === undefined;
    this.#sessions.ledger.put(this);
    if (this.#isLive) this.#goLive();
  }

  /** Begins with the history, once `start` was told to the client. */
  copy(): void {
    if (!this.#isLive && !this.#isClosed) void this.#copy().catch(() => this.close());
  }

  restore(entry: SubscriptionEntry): void {
    this.#cursor = entry.at;
    this.#isLive = entry.live;
    if (entry.live) this.#goLive();
    else this.copy();
  }

  #goLive(): void {
    if (this.job.isOver) this.close();
    else this.#sessions.jobs.follow(this.job, this);
  }

  async #copy(): Promise<void> {
    const { recorder } = this.#sessions;
    const owner = this.job.owner;
    const stream = streamOf(owner.id);
    for (;;) {
      await this.#copyDurable(stream);
      if (this.#hasEnded()) return;
      const pending = recorder.pending(stream);
      const durable = owner.head - pending.length;
      const isOver = this.job.isOver && this.#cursor >= this.job.spans.last;
      if (!isOver && this.#hasMore(durable)) continue;
      // From here to the end nothing is awaited.
      for (const [index, frame] of pending.entries()) this.#take(durable + index + 1, frame);
      if (this.#hasEnded()) return;
      this.#isLive = true;
      this.#cursor = owner.head;
      this.#note();
      this.#goLive();
      return;
    }
  }

  #hasEnded(): boolean {
    return this.#isClosed || this.#sessions.recorder.hasFailed;
  }

  /** Whether some of the job's events are on disk beyond what was copied. */
  #hasMore(durable: number): boolean {
    return this.job.spans.pieces.some(
      ([first, last]) => last > this.#cursor && first <= durable && this.#cursor < durable,
    );
  }

  async #copyDurable(stream: string): Promise<void> {
    const { recorder } = this.#sessions;
    for (const [first, last] of this.job.spans.pieces.map(([a, b]) => [a, b] as const)) {
      if (last <= this.#cursor) continue;
      let copied = 0;
      // At capacity the beginning may be gone; the rest of a history is better than none.
      const oldest = this.#sessions.get(this.job.owner.id)?.oldest ?? 1;
      const after = Math.max(this.#cursor, first - 1, oldest - 1);
      for await (const { position, entry } of recorder.read(stream, after)) {
        if (this.#isClosed || position > last) break;
        this.#take(position, entry);
        copied += 1;
        if (copied % SUBSCRIPTIONS.copied > 0) continue;
        this.#note();
        await recorder.settled();
      }
      this.#note();
      if (this.#isClosed) return;
    }
  }

  #note(): void {
    const { id: s } = this.#session;
    const [at, live] = [this.#cursor, this.#isLive];
    this.#sessions.ledger.change({ t: "sub+", s, j: this.job.id, at, live });
  }

  /** One frame of the owner's stream, in this session's own shape and number. */
  #take(position: number, frame: string): void {
    if (position <= this.#cursor || this.#isClosed) return;
    this.#cursor = position;
    const at = frame.indexOf(PAYLOAD);
    const head = frame.slice(0, at);
    if (!head.includes(`"job_id":"${this.job.id}"`)) return;
    const payload = frame.slice(at + PAYLOAD.length, -1);
    if (head.includes('"type":"job.event"')) this.#takeEvent(payload);
    else this.#takeEnd(payload);
  }

  #takeEvent(payload: string): void {
    const kind = /^\{"kind":"([^"]*)"/.exec(payload)?.[1] ?? "";
    if (!this.#session.takes({ kind: kind as JobEvent["kind"] })) return;
    if (isNotice(kind, payload)) return;
    this.lastSeq = this.#session.record(this.job, "job.event", withoutSecret(kind, payload));
  }

  #takeEnd(payload: string): void {
    const { ending, endedAtMs } = this.job;
    const told = ending
      ? endingOf(this.#session.profile, ending, this.#sessions.time(endedAtMs))
      : { type: "job.result", payload };
    this.#session.record(this.job, told.type, told.payload);
    this.close();
  }

  onEvent(job: Job, said: SaidEvent): void {
    const { event } = said;
    if (!this.#session.takes(event)) return;
    const payload = payloadOf(said, (atMs) => this.#sessions.time(atMs));
    this.lastSeq = this.#session.record(job, "job.event", withoutSecret(event.kind, payload));
  }

  onEnded(job: Job, outcome: Outcome): void {
    this.#session.onEnded(job, outcome);
    this.close();
  }

  /** Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#sessions.jobs.unfollow(this.job, this);
    const { subscriptions, id: s } = this.#session;
    if (subscriptions.get(this.job.id) === this) subscriptions.delete(this.job.id);
    this.#sessions.ledger.drop(this, { t: "sub-", s, j: this.job.id });
  }
}

/** That the owner lagged is its own affair: this session is told of its own lag. */
function isNotice(kind: string, payload: string): boolean {
  if (kind !== "status" || !payload.includes('"back_pressure"')) return false;
  return (JSON.parse(payload) as { body: { phase?: unknown } }).body.phase === "back_pressure";
}

/** The value of a rotated credential is for who submitted the job, in that session only. */
function withoutSecret(kind: string, payload: string): string {
  if (kind !== "status" || !payload.includes('"credential_rotated"')) return payload;
  const told = JSON.parse(payload) as { body: { phase?: unknown; value?: unknown } };
  if (told.body.phase === "credential_rotated") delete told.body.value;
  return JSON.stringify(told);
}
