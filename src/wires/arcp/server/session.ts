/**
 * One client's session: a numbered stream of what its jobs say, and the connection it goes to.
 *
 *   LIVE ──transport lost, heartbeat lost, bye──▶ DETACHED ──window elapsed──▶ GONE
 *    ▲                                               │
 *    └──────────────────── resume ───────────────────┘
 *
 * The number of an event is its place in the session's stream in the journal, given when it is
 * appended, whether or not anybody is connected. A session that is gone cannot be resumed, but its
 * stream stays for as long as its jobs can be asked for: their history is read from there.
 */
import type { JobEvent } from "../../../core/jobs/events.ts";
import type { Outcome } from "../../../core/jobs/outcome.ts";
import type { Alarm, Alarmed } from "../../../jobs/alarms.ts";
import type { JobOwner, SaidEvent } from "../../../jobs/follower.ts";
import type { Job } from "../../../jobs/job.ts";
import type { LedgerRecord } from "../../../jobs/ledger.ts";
import type { StreamListener } from "../../../jobs/recorder.ts";
import { acceptedOf } from "../codec/answers.ts";
import type { Connection } from "./connection.ts";
import { eventPayload, frameText } from "../codec/encode.ts";
import { endingOf } from "../codec/endings.ts";
import { FRAME } from "../codec/limits.ts";
import type { Feature } from "../codec/messages.ts";
import { Output } from "./output.ts";
import type { Profile } from "../codec/profile.ts";
import { payloadOf } from "../codec/said.ts";
import { INPUT, OUTPUT } from "./session-limits.ts";
import type { Sessions } from "./sessions.ts";
import type { Subscription } from "./subscription.ts";

/** What a client says of itself when it opens a session, or resumes it. */
export interface SessionTerms {
  readonly profile: Profile;
  /** What both sides have. */
  readonly features: readonly Feature[];
  readonly client: string;
}

export class Session implements JobOwner, StreamListener, LedgerRecord, Alarmed {
  readonly id: string;
  readonly principal: string;
  readonly stream: string;
  readonly output: Output;
  /** How many events it was given. */
  head: number;
  /** The position of the first one that is still there. */
  oldest: number;
  bytes = 0;
  acked = 0;
  profile: Profile;
  features: readonly Feature[];
  client: string;
  /** Digests of the token that resumes it, and of the one before while that may be needed. */
  token = "";
  tokenBefore: string | undefined;
  isProven = true;
  connection: Connection | undefined;
  detachedAtMs = 0;
  isGone = false;
  alarm: Alarm | undefined;
  readonly subscriptions = new Map<string, Subscription>();
  /** Its jobs that can be asked for, oldest first. */
  readonly jobs = new Set<Job>();
  /** Frames that submitted a job → that job: who sends one again is told again. */
  readonly submits = new Map<string, Job>();
  readonly #sessions: Sessions;
  #isTold = false;

  constructor(sessions: Sessions, terms: SessionTerms & SessionPlace) {
    this.#sessions = sessions;
    this.id = terms.id;
    this.principal = terms.principal;
    this.stream = streamOf(terms.id);
    this.head = terms.head ?? 0;
    this.oldest = terms.oldest ?? 1;
    this.profile = terms.profile;
    this.features = terms.features;
    this.client = terms.client;
    this.output = new Output(sessions.recorder, this.stream, this.head);
  }

  get frameBytes(): number {
    return this.connection?.maxFrameBytes ?? FRAME.outboundBytes;
  }

  get takesChunks(): boolean {
    return this.has("result_chunk");
  }

  has(feature: Feature): boolean {
    return this.features.includes(feature);
  }

  entry(): SessionEntry {
    return {
      t: "ses",
      id: this.id,
      who: this.principal,
      profile: this.profile,
      features: this.features,
      client: this.client,
      token: this.token,
      before: this.tokenBefore,
      acked: this.acked === 0 ? undefined : this.acked,
      gone: this.isGone ? true : undefined,
    };
  }

  onEvent(job: Job, said: SaidEvent): void {
    if (!this.takes(said.event)) return;
    const seq = this.record(
      job,
      "job.event",
      payloadOf(said, (atMs) => this.#sessions.time(atMs)),
    );
    if (job.owner === this) job.spans.add(seq);
    this.#noticeLag(job);
  }

  onEnded(job: Job, outcome: Outcome): void {
    const at = this.#sessions.time(job.endedAtMs);
    const { type, payload } = endingOf(this.profile, outcome, at);
    const seq = this.record(job, type, payload);
    if (job.owner === this) job.spans.add(seq);
  }

  /** What was not agreed on is as if it were not said. */
  takes({ kind }: Pick<JobEvent, "kind">): boolean {
    if (kind !== "progress" && kind !== "result_chunk") return true;
    return this.has(kind);
  }

  /** Appends a frame to the stream; gives its number. */
  record(job: Job, type: string, payload: string): number {
    this.head += 1;
    const head = {
      id: `msg_${this.#sessions.newId()}`,
      sessionId: this.id,
      jobId: job.id,
      traceId: job.traceId,
      eventSeq: this.head,
    };
    const frame = frameText(type, head, payload);
    this.bytes += frame.length;
    this.#sessions.recorder.append(this.stream, frame, this);
    this.#sessions.touched(this);
    return this.head;
  }

  onRecorded(entries: readonly string[]): void {
    this.output.release(entries);
  }

  /** One notice to a client that acknowledges too little; the next after it caught up by half. */
  #noticeLag(job: Job): void {
    const lag = this.head - this.acked;
    if (this.#isTold || lag <= OUTPUT.lagEvents || !this.has("ack")) return;
    this.#isTold = true;
    const body = { phase: "back_pressure", message: `${lag} events are not acknowledged` };
    const at = this.#sessions.time(this.#sessions.wallMs());
    const seq = this.record(job, "job.event", eventPayload("status", at, body));
    if (job.owner === this) job.spans.add(seq);
  }

  /** Only forwards, and not beyond what was sent. */
  acknowledge(seq: number): void {
    if (!this.has("ack") || seq <= this.acked) return;
    this.acked = Math.min(seq, this.head);
    if (this.head - this.acked < OUTPUT.lagEvents / 2) this.#isTold = false;
    this.#sessions.touched(this);
  }

  /** A frame outside the numbers, to whoever is connected now. */
  send(type: string, payload: string, job?: Job): void {
    if (this.connection?.isWelcomed) this.connection.sendFrame(type, payload, job);
  }

  onJob(job: Job): void {
    this.jobs.add(job);
    if (job.requestId === undefined) return this.#tellChild(job);
    this.submits.set(job.requestId, job);
    if (this.submits.size <= INPUT.recentSubmits) return;
    for (const oldest of this.submits.keys()) {
      this.submits.delete(oldest);
      break;
    }
  }

  /** The SDKs would take it for the answer to the next submit of their own. */
  #tellChild(job: Job): void {
    if (this.profile !== "spec" || !this.connection) return;
    this.#sessions.recorder.after(() => {
      const at = this.#sessions.time(job.createdAtMs);
      this.send("job.accepted", acceptedOf(this.profile, job, { at }), job);
    });
  }

  onForgotten(job: Job): void {
    this.jobs.delete(job);
    if (job.requestId !== undefined) this.submits.delete(job.requestId);
    this.#sessions.touched(this);
  }

  onAlarm(nowMs: number): void {
    this.#sessions.onAlarm(this, nowMs);
  }

  /** Through where the stream may be forgotten. */
  trimPoint(keptEvents: number, keptBytes: number): number {
    const acked = this.has("ack") ? this.acked : 0;
    const resumable = this.isGone ? this.head : Math.max(acked, this.head - OUTPUT.unackedEvents);
    const unsent = this.isGone || !this.connection ? Infinity : this.output.sent;
    let needed = Math.min(resumable, unsent);
    // Of what a detached client may not have got, all that fits is kept.
    if (!this.connection && !this.isGone)
      needed = Math.min(needed, Math.max(acked, this.oldest - 1));
    const [first] = this.jobs;
    if (first) needed = Math.min(needed, (first.spans.first || first.from + 1) - 1);
    const held = this.head - this.oldest + 1;
    const fits = this.bytes <= keptBytes ? keptEvents : Math.floor((held * keptBytes) / this.bytes);
    return Math.max(needed, this.head - fits);
  }
}

export interface SessionPlace {
  readonly id: string;
  readonly principal: string;
  readonly head?: number;
  readonly oldest?: number;
}

export interface SessionEntry {
  readonly t: "ses";
  readonly id: string;
  readonly who: string;
  readonly profile: Profile;
  readonly features: readonly Feature[];
  readonly client: string;
  readonly token: string;
  readonly before: string | undefined;
  readonly acked: number | undefined;
  readonly gone: boolean | undefined;
}

export function streamOf(sessionId: string): string {
  return `arcp/session/${sessionId}`;
}
