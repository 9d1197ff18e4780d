/**
 * A session while this node leads: the connection it goes to, and the numbers of its frames.
 *
 * It numbers an entry in the moment it is added to a job's stream, whether or not anybody is
 * connected, and writes the number to its own stream in the same commit, as part of a span (see
 * core/job-stream.ts). When that is durable the frame may be sent.
 */
import {
  encodeSessionEntry,
  isShown,
  sessionStream,
  type SessionStreamEntry,
  type FrameSpan,
} from "../../../core/job-stream.ts";
import { ITSELF, type By } from "../../../core/by.ts";
import type { Job } from "../../../core/jobs.ts";
import type { SessionEntry } from "../../../core/sessions.ts";
import type { StreamWriter } from "../../../engine/batch.ts";
import type { PositionedEntry, Owner } from "../../../jobs/run.ts";
import { FRAME_LIMITS } from "../codec/limits.ts";
import { jobFrame, type JobFrame } from "../codec/job-frames.ts";
import type { Feature } from "../codec/messages.ts";
import type { Profile } from "../codec/profile.ts";
import type { ServerConnection } from "./connection.ts";
import { SessionOutput, type NumberedFrame } from "./output.ts";
import { RecentMap } from "./recent-map.ts";
import { INPUT, OUTPUT } from "./session-limits.ts";
import type { LiveSessions } from "./sessions.ts";
import type { LiveSubscription } from "./subscription.ts";

/** The terms of a client that opens or resumes a session. */
export interface SessionTerms {
  readonly profile: Profile;
  /** The negotiated features. */
  readonly features: readonly Feature[];
  readonly client: string;
}

/** Entries of jobs, and notices, that are numbered one after the other and not durable yet. */
interface FrameBatch {
  first: number;
  readonly heard: PositionedEntry[];
}

/** The contents of a frame. */
type FrameContents = Pick<JobFrame, "job" | "entry" | "outcome">;

/** About what a span takes. */
const SPAN_LENGTH = 48;

/** Where in its stream a frame's number stands. */
interface FrameMark {
  readonly seq: number;
  readonly position: number;
}

export class LiveSession implements Owner, StreamWriter {
  readonly id: string;
  readonly principal: string;
  readonly stream: string;
  readonly output: SessionOutput;
  /** The number of the first frame that can still be sent again. */
  oldest = 1;
  acked = 0;
  connection: ServerConnection | undefined;
  /** The caller that opened or resumed it last; nobody yet in this term of leading. */
  by: By = ITSELF;
  readonly subscriptions = new Map<string, LiveSubscription>();
  /** Frames that submitted a job → that job: a client that sends one again is told again. */
  readonly submits = new RecentMap<string>(INPUT.recentSubmits);
  /** The id of the frame that submitted last. */
  lastSubmit: string | undefined;
  readonly #sessions: LiveSessions;
  readonly #entry: SessionEntry;
  #isLagTold = false;
  #gathering: FrameBatch = { first: 0, heard: [] };
  readonly #batches: FrameBatch[] = [];
  /** The position of the last span, and where some of the numbers stand. */
  #spans = 0;
  readonly #marks: FrameMark[] = [];

  constructor(sessions: LiveSessions, entry: SessionEntry) {
    this.#sessions = sessions;
    this.#entry = entry;
    this.id = entry.session.id;
    this.principal = entry.session.principal;
    this.stream = sessionStream(this.id);
    this.output = new SessionOutput({
      read: (after, through) => this.#frames(after, through),
      onLost: (seq) => (this.oldest = Math.max(this.oldest, seq + 1)),
      durable: entry.seq,
    });
  }

  /** Found on the disk at the start of a term. */
  restore(found: { readonly oldest: number; readonly seq: number; readonly spans: number }): void {
    this.oldest = found.oldest;
    this.#entry.seq = found.seq;
    this.#spans = found.spans;
    this.output.durable = found.seq;
  }

  /** The number of the last frame. */
  get head(): number {
    return this.#entry.seq;
  }

  get profile(): Profile {
    return this.#entry.session.profile as Profile;
  }

  get features(): readonly Feature[] {
    return this.#entry.session.features as readonly Feature[];
  }

  /** Whether the client spoke since the last resume: then it has its token. */
  get isProven(): boolean {
    return this.#entry.session.tokenHashBefore === "";
  }

  get frameBytes(): number {
    return this.connection?.maxFrameBytes ?? FRAME_LIMITS.outboundBytes;
  }

  get takesChunks(): boolean {
    return this.has("result_chunk");
  }

  has(feature: Feature): boolean {
    return this.features.includes(feature);
  }

  hear(heard: PositionedEntry): number {
    if (!this.#takes(heard)) return 0;
    const seq = this.#number(heard);
    // Nothing is said of a job after its end.
    if (heard.entry.kind !== "end") this.#noticeLag(heard);
    return seq;
  }

  /** An entry of a feature that was not negotiated is not sent. */
  #takes({ entry }: PositionedEntry): boolean {
    const { kind } = entry;
    if (kind === "progress" || kind === "result_chunk") return this.has(kind);
    return isShown(entry);
  }

  #number(heard: PositionedEntry): number {
    this.#sessions.term.join(this, SPAN_LENGTH);
    this.#entry.seq += 1;
    const gathering = this.#gathering;
    if (gathering.heard.length === 0) gathering.first = this.#entry.seq;
    gathering.heard.push(heard);
    return this.#entry.seq;
  }

  take(): readonly string[] {
    const numbered = this.#gathering;
    this.#gathering = { first: 0, heard: [] };
    this.#batches.push(numbered);
    this.#sessions.touched(this);
    return spansOf(numbered).map((entry) => {
      const { seq } = entry;
      this.#spans += 1;
      if (this.#spans % OUTPUT.markSpans === 0) this.#marks.push({ seq, position: this.#spans });
      return encodeSessionEntry(entry);
    });
  }

  onDurable(): void {
    const { first, heard } = this.#batches.shift() ?? NOTHING;
    this.output.release(heard, (each, index) => this.#frame(first + index, each));
  }

  #frame(seq: number, { job, entry, outcome }: FrameContents): string {
    const { id: sessionId, profile } = this;
    const { time, secretOf } = this.#sessions;
    return jobFrame({ sessionId, profile, seq, job, entry, outcome, time, secretOf });
  }

  async *#frames(after: number, through: number): AsyncGenerator<NumberedFrame> {
    const mark = this.#marks.findLast(({ seq }) => seq <= after + 1);
    const place = { stream: this.stream, position: (mark?.position ?? 1) - 1 };
    for await (const { seq, job, entry } of this.#sessions.read(place, after)) {
      if (seq > through) return;
      yield { seq, text: this.#frame(seq, { job, entry }) };
    }
  }

  /** One notice to a client that acknowledges too little; the next after it caught up by half. */
  #noticeLag({ job }: PositionedEntry): void {
    const lag = this.head - this.acked;
    if (this.#isLagTold || lag <= OUTPUT.lagEvents || !this.has("ack")) return;
    this.#isLagTold = true;
    this.tell(job, "status", {
      phase: "back_pressure",
      message: `${lag} events are not acknowledged`,
    });
  }

  /** A notice about a job, for this client alone. */
  tell(job: Job, kind: string, told: object): void {
    const entry = { atMs: this.#sessions.term.nowMs(), seq: 0, kind, body: JSON.stringify(told) };
    this.#number({ job, position: NO_POSITION, entry });
  }

  /** Only forwards, and not beyond what was sent. */
  acknowledge(seq: number): void {
    if (!this.has("ack") || seq <= this.acked) return;
    this.acked = Math.min(seq, this.head);
    if (this.head - this.acked < OUTPUT.lagEvents / 2) this.#isLagTold = false;
    this.#sessions.touched(this);
  }

  /** A frame outside the numbers, to the client that is connected now. */
  send(type: string, payload: string, job?: Pick<Job, "id" | "traceId">): void {
    if (this.connection?.isWelcomed) this.connection.sendFrame(type, payload, job);
  }

  /**
   * Forgets numbers that no resume can ask for; at capacity also others, and then a client that is
   * behind is let go. Gives the position through which its stream may be trimmed; 0 for nothing.
   */
  trim(keptEvents: number): number {
    const acked = this.has("ack") ? this.acked : 0;
    const resumable = Math.max(acked, this.head - OUTPUT.unackedEvents);
    const needed = this.connection ? Math.min(resumable, this.output.sent) : acked;
    const through = Math.min(this.output.durable, Math.max(needed, this.head - keptEvents));
    if (through - this.oldest + 1 < OUTPUT.trimEvents) return 0;
    this.oldest = through + 1;
    if (this.connection && this.output.sent < through) {
      this.connection.close({ code: 1013, reason: "too far behind" });
    }
    const kept = this.#marks.findLastIndex(({ seq }) => seq <= this.oldest);
    const mark = this.#marks[kept];
    if (kept > 0) this.#marks.splice(0, kept);
    return mark ? mark.position - 1 : 0;
  }
}

const NOTHING: FrameBatch = { first: 0, heard: [] };
/** A notice stands in no job's stream. */
const NO_POSITION = 0;

/** Frames that follow each other in one job are one span. */
function spansOf({ first, heard }: FrameBatch): readonly SessionStreamEntry[] {
  const entries: SessionStreamEntry[] = [];
  let open: { -readonly [Field in keyof FrameSpan]: FrameSpan[Field] } | undefined;
  for (const [index, { job, position, entry }] of heard.entries()) {
    const seq = first + index;
    if (position === NO_POSITION) {
      open = undefined;
      entries.push({ ...entry, seq, jobId: job.id });
    } else if (open?.jobId === job.id && open.last === position - 1) {
      open.last = position;
    } else {
      open = { seq, jobId: job.id, first: position, last: position };
      entries.push(open);
    }
  }
  return entries;
}
