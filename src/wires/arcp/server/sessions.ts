/**
 * All sessions: who may open one, who may come back to one, and when one is gone.
 *
 * A resume is refused with one code and one sentence, whatever was wrong: that a session exists,
 * whose it is and how far it got is nobody's business. The new token is on disk before its client
 * hears of it; the token before it counts again only if that client never did.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { RollcallError } from "../../../core/errors.ts";
import type { Alarms } from "../../../jobs/alarms.ts";
import type { Jobs } from "../../../jobs/jobs.ts";
import type { Ledger } from "../../../jobs/ledger.ts";
import type { Recorder } from "../../../jobs/recorder.ts";
import type { Connection } from "./connection.ts";
import type { Resume } from "../codec/messages.ts";
import { Rate } from "../../../core/rate.ts";
import { Session, streamOf, type SessionEntry, type SessionTerms } from "./session.ts";
import { OUTPUT, RESUME } from "./session-limits.ts";
import { Subscription, type SubscriptionEntry } from "./subscription.ts";
import { Timestamps } from "../codec/timestamps.ts";
import { digestOf } from "./verifiers.ts";

export interface SessionLimits {
  readonly helloMs: number;
  readonly heartbeatSec: number;
  readonly resumeWindowSec: number;
  readonly perPrincipal: number;
  readonly total: number;
  readonly framesPerSecond: number;
  readonly keptEvents: number;
  readonly keptBytes: number;
}

export interface SessionsOptions {
  readonly alarms: Alarms;
  readonly recorder: Recorder;
  readonly ledger: Ledger;
  readonly jobs: Jobs;
  readonly limits: SessionLimits;
  readonly newId: () => string;
}

export interface ResumeRequest {
  readonly principal: string;
  readonly terms: SessionTerms;
  readonly resume: Resume;
  readonly connection: Connection;
}

export interface Opened {
  readonly session: Session;
  /** Told once; only its digest is kept. */
  readonly token: string;
}

export class Sessions {
  readonly recorder: Recorder;
  readonly alarms: Alarms;
  readonly ledger: Ledger;
  readonly jobs: Jobs;
  readonly limits: SessionLimits;
  readonly newId: () => string;
  readonly #timestamps = new Timestamps();
  readonly #byId = new Map<string, Session>();
  readonly #counts = new Map<string, number>();
  readonly #guesses = new Rate(RESUME.guessesPerSecond, RESUME.guesses);
  readonly #touched = new Set<Session>();
  #live = 0;

  constructor(options: SessionsOptions) {
    this.recorder = options.recorder;
    this.alarms = options.alarms;
    this.ledger = options.ledger;
    this.jobs = options.jobs;
    this.limits = options.limits;
    this.newId = options.newId;
  }

  get(sessionId: string): Session | undefined {
    return this.#byId.get(sessionId);
  }

  /** Open, or waiting to be resumed. */
  get size(): number {
    return this.#live;
  }

  time(atMs: number): string {
    return this.#timestamps.text(atMs);
  }

  wallMs(): number {
    return this.alarms.clock.wallMs();
  }

  open(principal: string, terms: SessionTerms, connection: Connection): Opened {
    const { perPrincipal, total } = this.limits;
    if (this.#live >= total) {
      throw new RollcallError("LIMIT_EXCEEDED", `there are ${total} sessions already`);
    }
    if ((this.#counts.get(principal) ?? 0) >= perPrincipal) {
      throw new RollcallError("LIMIT_EXCEEDED", `${principal} has ${perPrincipal} sessions`);
    }
    const session = new Session(this, { ...terms, id: `sess_${this.newId()}`, principal });
    this.#add(session);
    return this.#attach(session, connection);
  }

  resume({ principal, terms, resume, connection }: ResumeRequest): Opened {
    const session = this.#byId.get(resume.sessionId);
    if (!session || session.isGone) throw refused();
    if (!this.#mayResume(session, principal, resume)) {
      // Only failures cost: who comes back rightly may come as often as the network fails. And
      // only here: a crowd of one principal that comes too late takes no session from another.
      this.#guesses.take(`${session.id} ${principal}`, this.alarms.nowMs());
      throw refused();
    }
    session.profile = terms.profile;
    session.features = terms.features;
    session.client = terms.client;
    const before = session.connection;
    session.tokenBefore = session.token;
    const opened = this.#attach(session, connection);
    session.isProven = false;
    before?.replaced();
    return opened;
  }

  #mayResume(session: Session, principal: string, resume: Resume): boolean {
    const isOpen = this.#guesses.has(`${session.id} ${principal}`, this.alarms.nowMs());
    const digest = digestOf(resume.resumeToken);
    const isToken = isSame(session.token, digest);
    const isBefore = isSame(session.tokenBefore ?? "", digest) && this.#isUnproven(session);
    const seq = resume.lastEventSeq;
    const isKept = seq <= session.head && seq >= session.oldest - 1;
    return isOpen && (isToken || isBefore) && session.principal === principal && isKept;
  }

  /** Whether the client of the last resume may never have got its new token. */
  #isUnproven({ isProven, connection }: Session): boolean {
    if (isProven) return false;
    return !connection || this.alarms.nowMs() - connection.openedMs >= RESUME.unprovenMs;
  }

  #attach(session: Session, connection: Connection): Opened {
    const token = `rt_${randomBytes(32).toString("hex")}`;
    session.token = digestOf(token).toString("base64url");
    session.output.detach();
    session.connection = connection;
    this.ledger.put(session);
    this.setAlarm(session);
    return { session, token };
  }

  /** The connection of a session ended; the window begins. */
  detach(session: Session, connection: Connection): void {
    if (session.connection !== connection) return;
    session.connection = undefined;
    session.output.detach();
    session.detachedAtMs = this.alarms.nowMs();
    this.setAlarm(session);
  }

  setAlarm(session: Session): void {
    const { connection } = session;
    const atMs = connection
      ? connection.openedMs + this.limits.heartbeatSec * 1000
      : session.detachedAtMs + this.limits.resumeWindowSec * 1000;
    if (connection && !session.has("heartbeat")) {
      this.alarms.cancel(session.alarm);
      return;
    }
    if (session.alarm) this.alarms.move(session.alarm, atMs);
    else session.alarm = this.alarms.set(atMs, session);
  }

  onAlarm(session: Session, nowMs: number): void {
    const { connection, alarm } = session;
    if (!connection) {
      const endsMs = session.detachedAtMs + this.limits.resumeWindowSec * 1000;
      if (nowMs >= endsMs) this.#end(session);
      else if (alarm) this.alarms.move(alarm, endsMs);
      return;
    }
    const everyMs = this.limits.heartbeatSec * 1000;
    if (nowMs - connection.heardMs >= 2 * everyMs) {
      connection.fail("HEARTBEAT_LOST", "nothing was heard for two heartbeats");
      return;
    }
    connection.ping();
    if (alarm) this.alarms.move(alarm, nowMs + everyMs);
  }

  /** It cannot be resumed any more; its stream stays while its jobs need it. */
  #end(session: Session): void {
    session.isGone = true;
    this.#uncount(session.principal);
    this.alarms.cancel(session.alarm);
    for (const subscription of session.subscriptions.values()) subscription.close();
    if (session.jobs.size > 0) this.ledger.put(session);
    this.touched(session);
  }

  #add(session: Session): void {
    this.#byId.set(session.id, session);
    if (session.isGone) return;
    this.#live += 1;
    this.#counts.set(session.principal, (this.#counts.get(session.principal) ?? 0) + 1);
  }

  #uncount(principal: string): void {
    this.#live -= 1;
    const left = (this.#counts.get(principal) ?? 1) - 1;
    if (left === 0) this.#counts.delete(principal);
    else this.#counts.set(principal, left);
  }

  #remove(session: Session): void {
    if (!this.#byId.delete(session.id)) return;
    this.ledger.drop(session, { t: "ses-", id: session.id });
    if (session.head > 0) this.#forgetStream(session);
  }

  /** Its entries go after the ledger forgot it: a start in between finds a stream of nobody. */
  #forgetStream(session: Session): void {
    this.recorder.after(() => {
      this.recorder.journal.remove(session.stream).catch(() => undefined);
    });
  }

  touched(session: Session): void {
    this.#touched.add(session);
  }

  /** Forgets what nobody needs, of the sessions where something changed. */
  sweep(): void {
    for (const session of this.#touched) {
      this.#touched.delete(session);
      if (session.isGone && session.jobs.size === 0) this.#remove(session);
      else this.#trim(session);
    }
  }

  #trim(session: Session): void {
    const { keptEvents, keptBytes } = this.limits;
    const through = session.trimPoint(keptEvents, keptBytes);
    const released = Math.min(through, session.output.released);
    const count = released - session.oldest + 1;
    if (count < OUTPUT.trimEvents) return;
    // Those that were not sent are among what goes: at capacity the session is let go.
    if (session.connection && session.output.sent < released) {
      session.connection.close({ code: 1013, reason: "too far behind" });
    }
    session.bytes -= (session.bytes * count) / (session.head - session.oldest + 1);
    session.oldest = released + 1;
    this.recorder.journal.trim(session.stream, released).catch(() => undefined);
  }

  /** Those the ledger knows, after a start; all of them get a whole window to come back. */
  async restore(entries: readonly RestoredSession[]): Promise<void> {
    for (const { entry, place } of entries) {
      const { oldest, head } = await this.recorder.journal.range(streamOf(entry.id));
      const { id, who: principal, profile, features, client } = entry;
      const terms = { id, principal, profile, features, client, head, oldest };
      const session = new Session(this, terms);
      session.token = entry.token;
      session.tokenBefore = entry.before;
      session.isProven = entry.before === undefined;
      session.acked = entry.acked ?? 0;
      session.isGone = entry.gone ?? false;
      session.detachedAtMs = this.alarms.nowMs();
      this.#add(session);
      this.ledger.place(session, place);
      if (!session.isGone) this.setAlarm(session);
    }
  }

  /** The jobs are there, too. */
  restoreSubscriptions(entries: Iterable<RestoredSubscription>): void {
    for (const { entry, place } of entries) {
      const session = this.#byId.get(entry.s);
      const job = this.jobs.index.get(entry.j);
      if (!session || session.isGone || !job) continue;
      const subscription = new Subscription(this, session, job);
      this.ledger.place(subscription, place);
      subscription.restore(entry);
    }
  }

  all(): IterableIterator<Session> {
    return this.#byId.values();
  }
}

export interface RestoredSession {
  readonly entry: SessionEntry;
  readonly place: number;
}

export interface RestoredSubscription {
  readonly entry: SubscriptionEntry;
  readonly place: number;
}

function isSame(kept: string, digest: Buffer): boolean {
  const bytes = Buffer.from(kept, "base64url");
  return bytes.length === digest.length && timingSafeEqual(bytes, digest);
}

function refused(): RollcallError {
  return new RollcallError("OUT_OF_RANGE", "this session cannot be resumed");
}
