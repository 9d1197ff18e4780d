/**
 * All sessions while this node leads: their connections, their heartbeats, and what is kept of
 * their numbers. Which resume is right, and when a session is gone, is decided in core/sessions.ts.
 */
import { randomBytes } from "node:crypto";
import { ITSELF, type By } from "../../../core/by.ts";
import { RollcallError } from "../../../core/errors.ts";
import type { Event } from "../../../core/events.ts";
import { Rate } from "../../../core/rate.ts";
import { SESSION_STREAMS, sessionStream } from "../../../core/job-stream.ts";
import type { Job } from "../../../core/jobs.ts";
import { limitSessions, setAttached } from "../../../core/sessions.ts";
import type { ResumeCommand, SessionLimits } from "../../../core/sessions.ts";
import type { State } from "../../../core/state.ts";
import type { Term } from "../../../engine/companion.ts";
import type { JobService } from "../../../jobs/jobs.ts";
import type { Streams } from "../../../log/streams.ts";
import { acceptedOf } from "../codec/answers.ts";
import type { Resumption } from "../codec/messages.ts";
import { Timestamps } from "../codec/timestamps.ts";
import type { Alarm, Alarms } from "./alarms.ts";
import type { PermitMessage, ServerConnection } from "./connection.ts";
import { LiveSession, type SessionTerms } from "./session.ts";
import { RESUME } from "./session-limits.ts";
import { storedSessions, type StoredNumbers } from "./stored-numbers.ts";
import { numberedEntries, type NumberedEntry, type StreamPlace } from "./stream-reader.ts";
import { LiveSubscription } from "./subscription.ts";
import { tokenDigest } from "./verifiers.ts";

export interface LiveSessionsOptions {
  readonly streams: Streams;
  readonly alarms: Alarms;
  readonly jobs: JobService;
  readonly limits: SessionLimits;
  readonly newId: () => string;
  readonly permit?: PermitMessage | undefined;
}

export interface ResumeRequest {
  readonly by: By;
  readonly terms: SessionTerms;
  readonly resume: Resumption;
  readonly connection: ServerConnection;
}

export interface OpenResult {
  readonly session: LiveSession;
  /** Told once; only its digest is kept. */
  readonly token: string;
}

interface Denial {
  readonly subscription: LiveSubscription;
  readonly error: RollcallError;
}

export class LiveSessions {
  readonly streams: Streams;
  readonly alarms: Alarms;
  readonly jobs: JobService;
  readonly limits: SessionLimits;
  readonly newId: () => string;
  readonly #permit: PermitMessage | undefined;
  readonly #timestamps = new Timestamps();
  readonly #byId = new Map<string, LiveSession>();
  readonly #heartbeats = new Map<LiveSession, Alarm>();
  readonly #guesses = new Rate(RESUME.guessesPerSecond, RESUME.guesses);
  readonly #touched = new Set<LiveSession>();
  /** Gone, and with jobs that are kept. */
  readonly #gone = new Set<string>();
  #found = new Map<string, StoredNumbers>();

  constructor(options: LiveSessionsOptions) {
    this.streams = options.streams;
    this.alarms = options.alarms;
    this.jobs = options.jobs;
    this.limits = options.limits;
    this.newId = options.newId;
    this.#permit = options.permit;
  }

  get(sessionId: string): LiveSession | undefined {
    return this.#byId.get(sessionId);
  }

  /** Open, or waiting to be resumed. */
  get size(): number {
    return this.#byId.size;
  }

  get term(): Term {
    return this.jobs.term;
  }

  job(jobId: string): Job | undefined {
    return this.jobs.isLeading ? this.jobs.state.jobs.byId.get(jobId)?.job : undefined;
  }

  readonly time = (atMs: number): string => this.#timestamps.text(atMs);

  readonly secretOf = (jobId: string, credentialId: string): string | undefined =>
    this.jobs.run(jobId)?.credentials.find(({ id }) => id === credentialId)?.value;

  wallMs(): number {
    return this.alarms.clock.wallMs();
  }

  async prepare(state: State): Promise<void> {
    limitSessions(state, this.limits);
    const { found, others } = await storedSessions(state.sessions.byId, this.streams);
    this.#found = found;
    for (const id of others) {
      // Its entries go after the log forgot it: a crash in between left the stream of nobody.
      if (state.jobs.bySession.of(id).size > 0) this.#gone.add(id);
      else await this.streams.remove(SESSION_STREAMS + id);
    }
  }

  /** All of them get a whole window to come back. */
  lead(term: Term): void {
    for (const entry of term.state.sessions.byId.values()) {
      const session = new LiveSession(this, entry);
      const found = this.#found.get(session.id);
      if (found) session.restore(found);
      this.#byId.set(session.id, session);
    }
    for (const { job } of term.state.jobs.byId.values()) {
      const { requestId, session = "" } = job;
      if (requestId !== undefined) this.#byId.get(session)?.submits.set(requestId, job.id);
    }
  }

  /** The jobs are there, too. */
  follow(term: Term): void {
    for (const { session, subscriptions } of term.state.sessions.byId.values()) {
      const follower = this.#byId.get(session.id);
      const heard = this.#found.get(session.id)?.heard;
      // A subscription that is over already is taken off the map meanwhile.
      for (const { jobId, after, ownerSeq } of Array.from(subscriptions.values())) {
        const job = this.job(jobId);
        if (!follower || !job) continue;
        const beginning = { after: Math.max(after, heard?.get(jobId) ?? 0), ownerSeq };
        new LiveSubscription({ sessions: this, session: follower, job }, beginning).read();
      }
    }
    this.#found.clear();
  }

  end(): void {
    for (const alarm of this.#heartbeats.values()) this.alarms.cancel(alarm);
    this.#heartbeats.clear();
    for (const { subscriptions } of this.#byId.values()) {
      for (const subscription of subscriptions.values()) subscription.lose();
    }
    this.#byId.clear();
    this.#touched.clear();
    this.#gone.clear();
  }

  onEvent(event: Event): void {
    if (event.type === "job.submitted") this.#tellChild(event.job);
    if (event.type === "session.gone") this.#remove(event.sessionId);
    if (event.type === "policy.set" && event.policy.effect === "deny") this.#narrow();
  }

  /** Ends what a new denial takes away. Of sessions without a caller yet, their resume does. */
  #narrow(): void {
    for (const session of this.#byId.values()) {
      if (session.by === ITSELF) continue;
      for (const { subscription, error } of this.#deniedTo(session.by, session)) {
        subscription.deny(error);
      }
    }
  }

  /** The jobs that a session follows and this caller may not, and why. */
  #deniedTo(by: By, { subscriptions }: LiveSession): readonly Denial[] {
    return [...subscriptions.values()].flatMap((subscription) => {
      const { jobId } = subscription;
      try {
        this.#permit?.(by, { type: "job.subscribe", jobId });
        return this.jobs.find(by, jobId) ? [] : [{ subscription, error: noJob(jobId) }];
      } catch (error) {
        if (error instanceof RollcallError) return [{ subscription, error }];
        throw error;
      }
    });
  }

  /** The numbers of a session that is gone stay while its jobs can be read. */
  #forgetGone(): void {
    const { jobs } = this.term.state;
    const unread = [...this.#gone].filter((id) => jobs.bySession.of(id).size === 0);
    if (unread.length === 0) return;
    for (const sessionId of unread) this.#gone.delete(sessionId);
    const names = unread.map(sessionStream);
    this.term.after(() => void this.streams.remove(...names).catch(() => undefined));
  }

  #tellChild(job: Job): void {
    const session = this.#byId.get(job.session ?? "");
    if (job.requestId !== undefined || !session?.connection) return;
    this.term.after(() => {
      if (!this.#knowsChildren(session, job)) return;
      const credentials = this.jobs.run(job.id)?.credentials ?? [];
      const terms = { at: this.time(job.submittedAtMs), credentials };
      session.send("job.accepted", acceptedOf(session.profile, job, terms), job);
    });
  }

  /**
   * The SDKs take any job.accepted for the answer to their oldest open submit. Python's has no use
   * for a child's. TypeScript's shows it, and gets it while the family's own submit is the last one
   * it sent: a client that does not wait for its job gets the `delegate` event alone.
   */
  #knowsChildren({ profile, lastSubmit }: LiveSession, child: Job): boolean {
    if (profile !== "ts") return profile === "spec";
    let root: Job | undefined = child;
    while (root && root.parent !== "") root = this.job(root.parent);
    return root?.requestId !== undefined && root.requestId === lastSubmit;
  }

  #remove(sessionId: string): void {
    const session = this.#byId.get(sessionId);
    if (!session) return;
    for (const subscription of session.subscriptions.values()) subscription.close();
    this.#byId.delete(session.id);
    this.#gone.add(session.id);
  }

  open(by: By, terms: SessionTerms, connection: ServerConnection): OpenResult {
    const { token, tokenHash } = newToken();
    const sessionId = `sess_${this.newId()}`;
    const { name: principal } = by.principal;
    this.term.decide({ type: "session.open", sessionId, principal, ...terms, tokenHash }, by);
    const entry = this.term.state.sessions.byId.get(sessionId);
    if (!entry) throw new Error(`session ${sessionId} was decided and is not there`);
    const session = new LiveSession(this, entry);
    this.#byId.set(sessionId, session);
    session.by = by;
    this.#attach(session, connection);
    return { session, token };
  }

  resume({ by, terms, resume, connection }: ResumeRequest): OpenResult {
    const { name: principal } = by.principal;
    const { sessionId, resumeToken, lastEventSeq } = resume;
    const session = this.#byId.get(sessionId);
    const name = `${sessionId} ${principal}`;
    const isOpen = this.#guesses.has(name, this.alarms.nowMs());
    if (!session || !isOpen) throw cannotBeResumed();
    const { token, tokenHash: newTokenHash } = newToken();
    const denied = this.#deniedTo(by, session);
    // Frames that are not sent yet may be of a job that is denied, and have no gaps.
    const isSent = denied.length === 0 || lastEventSeq === session.head;
    try {
      const command: ResumeCommand = {
        type: "session.resume",
        sessionId,
        principal,
        ...terms,
        tokenHash: tokenDigest(resumeToken).toString("base64url"),
        newTokenHash,
        isUnproven: this.#isUnproven(session),
        isKept: isSent && lastEventSeq <= session.head && lastEventSeq >= session.oldest - 1,
      };
      this.term.decide(command, by);
    } catch (error) {
      // Only failures cost: a client that comes back rightly may come as often as the network
      // fails. And only here: a crowd of one principal that comes too late takes no session from
      // another.
      this.#guesses.take(name, this.alarms.nowMs());
      throw error;
    }
    const before = session.connection;
    session.output.detach();
    session.by = by;
    this.#attach(session, connection);
    for (const { subscription, error } of denied) subscription.deny(error);
    before?.replaced();
    return { session, token };
  }

  /** Whether the client of the last resume may never have got its new token. */
  #isUnproven({ isProven, connection }: LiveSession): boolean {
    if (isProven) return false;
    return !connection || this.alarms.nowMs() - connection.openedMs >= RESUME.unprovenMs;
  }

  #attach(session: LiveSession, connection: ServerConnection): void {
    session.connection = connection;
    setAttached(this.term.state, session.id, { isAttached: true, nowMs: this.term.nowMs() });
    this.alarms.cancel(this.#heartbeats.get(session));
    this.#heartbeats.delete(session);
    if (!session.has("heartbeat")) return;
    const atMs = connection.openedMs + this.limits.heartbeatSec * 1000;
    const onAlarm = (nowMs: number) => this.#beat(session, nowMs);
    this.#heartbeats.set(session, this.alarms.set(atMs, { onAlarm }));
  }

  /** The connection of a session ended; the window begins. */
  detach(session: LiveSession, connection: ServerConnection): void {
    if (session.connection !== connection) return;
    session.connection = undefined;
    session.output.detach();
    this.alarms.cancel(this.#heartbeats.get(session));
    this.#heartbeats.delete(session);
    if (!this.jobs.isLeading) return;
    const nowMs = this.term.nowMs();
    setAttached(this.term.state, session.id, { isAttached: false, nowMs });
    this.term.expect(nowMs + this.limits.resumeWindowSec * 1000);
  }

  #beat(session: LiveSession, nowMs: number): void {
    const { connection } = session;
    const alarm = this.#heartbeats.get(session);
    if (!connection || !alarm) return;
    const everyMs = this.limits.heartbeatSec * 1000;
    if (nowMs - connection.heardMs >= 2 * everyMs) {
      connection.fail("HEARTBEAT_LOST", "nothing was heard for two heartbeats");
      return;
    }
    connection.ping();
    this.alarms.move(alarm, nowMs + everyMs);
  }

  /** The frames of a session after a number, from the disk: what each carries. */
  read(place: StreamPlace, after: number): AsyncGenerator<NumberedEntry> {
    const { streams } = this;
    return numberedEntries({ streams, job: (jobId) => this.job(jobId) }, place, after);
  }

  touched(session: LiveSession): void {
    this.#touched.add(session);
  }

  /** Forgets numbers that nobody needs: of sessions that are gone, or where something changed. */
  sweep(): void {
    this.#forgetGone();
    for (const session of this.#touched) {
      this.#touched.delete(session);
      const through = session.trim(this.limits.keptEvents);
      if (through === 0) continue;
      this.#keepCursors(session);
      this.term.after(() => void this.streams.trim(session.stream, through).catch(() => undefined));
    }
  }

  /** Numbers that go may be the last that say how far a session has heard of a job. */
  #keepCursors({ id: sessionId, subscriptions, head: seq }: LiveSession): void {
    for (const { jobId, after, ownerSeq } of subscriptions.values()) {
      if (!this.job(jobId)) continue;
      const cursor = { sessionId, jobId, after, seq, ownerSeq };
      this.term.decide({ type: "session.subscribe", ...cursor }, ITSELF);
    }
  }

  all(): IterableIterator<LiveSession> {
    return this.#byId.values();
  }
}

function newToken(): { readonly token: string; readonly tokenHash: string } {
  const token = `rt_${randomBytes(32).toString("hex")}`;
  return { token, tokenHash: tokenDigest(token).toString("base64url") };
}

export function noJob(jobId: string): RollcallError {
  return new RollcallError("NOT_FOUND", `no job ${JSON.stringify(jobId)}`);
}

function cannotBeResumed(): RollcallError {
  return new RollcallError("OUT_OF_RANGE", "this session cannot be resumed");
}
