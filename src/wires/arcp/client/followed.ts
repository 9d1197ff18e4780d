/**
 * The jobs that a client follows, and which message is for which. What a job says may come before
 * the answer that makes it known: a runtime may send history before it says that it subscribed us.
 */
import { RollcallError, wireCodes } from "../../../core/errors.ts";
import { isJobStatus, isTerminal } from "../../../core/jobs/outcome.ts";
import type { Clock } from "../../../core/clock.ts";
import type {
  Accepted,
  EventMessage,
  RuntimeMessage,
  SessionError,
  Subscribed,
  JobEndMessage,
} from "../codec/messages.ts";
import { Acks } from "./acks.ts";
import { ARCP_CLIENT } from "./limits.ts";
import { JobHandle, toldError, type JobFacts } from "./job.ts";
import type { PendingRequests } from "./pending.ts";
import { SessionCursor, type ArcpClientSession } from "./session.ts";

export interface FollowedOptions {
  readonly clock: Clock;
  readonly pending: PendingRequests;
  readonly autoAck: boolean;
  readonly onGap: (after: number, before: number) => void;
  /** With all of its history. */
  readonly subscribe: (jobId: string) => Promise<void>;
  /** Resolves when all that was sent before has come. */
  readonly barrier: () => Promise<void>;
  readonly cancel: (jobId: string, reason: string) => Promise<void>;
  readonly send: (type: string, payload: object) => void;
  /** Whether all readers keep up, or the runtime had better wait. */
  readonly onPace: () => void;
}

export interface SessionStart {
  readonly isFirst: boolean;
  readonly isResumed: boolean;
  /** Where a session that another client had is gone on with. */
  readonly lastSeq: number;
}

/** These are about the session; no request is to blame. */
const OF_THE_SESSION = new Set(["HEARTBEAT_LOST", "RESUME_WINDOW_EXPIRED", "UNAUTHENTICATED"]);

export class FollowedJobs {
  readonly #options: FollowedOptions;
  readonly #jobs = new Map<string, JobHandle>();
  /** Subscribed jobs, which a runtime may number by themselves. */
  readonly #subscriptions = new WeakSet<JobHandle>();
  /** Jobs whose readers fell behind, each with the way to stop its timer. */
  readonly #behind = new Map<JobHandle, () => void>();
  readonly #acks: Acks;
  #place = new SessionCursor(0);
  #session: ArcpClientSession | undefined;
  /** Events of jobs that nobody here submitted are those of an earlier client. */
  #isInherited = false;
  /** Jobs that the caller has not asked for yet: even an ended one is kept until then. */
  readonly #unclaimed = new Set<JobHandle>();

  constructor(options: FollowedOptions) {
    this.#options = options;
    this.#acks = new Acks({
      clock: options.clock,
      progress: () => this.#progress(),
      send: (seq) => options.send("session.ack", { last_processed_seq: seq }),
    });
  }

  get lastSeq(): number {
    return this.#place.lastSeq;
  }

  get isBehind(): boolean {
    return this.#behind.size > 0;
  }

  get jobs(): readonly JobHandle[] {
    return [...this.#jobs.values()];
  }

  live(session: ArcpClientSession, { isFirst, isResumed, lastSeq }: SessionStart): void {
    this.#session = session;
    this.#acks.restart();
    if (isFirst || !isResumed) this.#place = new SessionCursor(lastSeq);
    if (isFirst) this.#isInherited = isResumed;
    else if (!isResumed || session.losesLiveEvents) void this.#findAgain();
  }

  lost(): void {
    this.#acks.close();
  }

  fail(error: RollcallError): void {
    this.#acks.close();
    for (const job of this.jobs) job.fail(error);
    this.#jobs.clear();
  }

  /** A job that is about to be subscribed to: history may come before the answer. */
  expect(jobId: string): JobHandle {
    if (this.#jobs.has(jobId)) {
      throw new RollcallError("WRONG_STATE", `this client follows job ${jobId} already`);
    }
    const job = this.#job(jobId);
    this.#subscriptions.add(job);
    return job;
  }

  /** A job of the session, of this client or an earlier one. */
  claim(jobId: string): JobHandle {
    const job = this.#job(jobId);
    this.#unclaimed.delete(job);
    if (job.isOver) this.forget(job);
    return job;
  }

  #job(jobId: string): JobHandle {
    const known = this.#jobs.get(jobId);
    if (known) return known;
    const job = new JobHandle(unknownJob(jobId), {
      cancel: this.#options.cancel,
      leave: (left) => this.#leave(left),
      behind: (slow, isBehind) => {
        if (isBehind) this.#waitFor(slow);
        else this.#goOn(slow);
      },
    });
    this.#jobs.set(jobId, job);
    return job;
  }

  forget(job: JobHandle): void {
    this.#jobs.delete(job.id);
  }

  take(message: RuntimeMessage, bytes: number): void {
    const { pending } = this.#options;
    switch (message.type) {
      case "job.event":
        return this.#event(message, bytes);
      case "job.result":
      case "job.error":
        return this.#terminal(message);
      case "job.accepted":
        return this.#accepted(message);
      case "job.subscribed":
        return this.#subscribed(message);
      case "session.jobs":
        pending.settle({ type: "list", requestId: message.requestId }, message);
        return;
      case "session.pong":
        pending.settle({ type: "cancel", requestId: message.pingNonce }, undefined);
        return;
      case "job.cancelled":
        pending.settle({ type: "cancel", jobId: message.jobId }, undefined);
        return;
      case "session.error":
        return this.#error(message);
      case "session.welcome":
      case "session.closed":
      case "session.ping":
      case "session.bye":
      case "unknown":
        return;
    }
  }

  #event(message: EventMessage, bytes: number): void {
    const job = this.#jobOf(message);
    if (!this.#isNew(message, job)) return;
    job?.take(message, bytes);
    if (this.#mayAck) this.#acks.note(this.#place.lastSeq);
  }

  #terminal(message: JobEndMessage): void {
    const job = this.#jobOf(message);
    if (!job && message.error) {
      // The refusal of a submit, under the id of a job that nobody ever had.
      const { traceId } = message;
      this.#options.pending.refuse({ type: "submit", traceId }, toldError(message.error));
    }
    if (!this.#isNew(message, job)) return;
    if (job) {
      this.#options.pending.settle({ type: "cancel", jobId: job.id }, undefined);
      if (!this.#unclaimed.has(job)) this.forget(job);
      job.end(message);
    }
    if (this.#mayAck) this.#acks.note(this.#place.lastSeq);
  }

  #accepted(message: Accepted): void {
    const { jobId, requestId, traceId, delegateId, agent = "unknown" } = message;
    // A child of a job of ours; nobody here asked for it.
    if (requestId === undefined && delegateId !== undefined) return;
    const wasFollowed = this.#jobs.has(jobId);
    const job = this.#job(jobId);
    const { lease, budget, acceptedAt, credentials } = message;
    job.know({ jobId, agent, lease, budget, traceId, acceptedAt, credentials, status: "running" });
    const clues = { type: "submit", requestId, traceId } as const;
    if (!this.#options.pending.settle(clues, job) && !wasFollowed) this.forget(job);
  }

  #subscribed(message: Subscribed): void {
    const { jobId, agent, lease, budget, traceId, requestId, status } = message;
    const facts = { jobId, agent, lease, budget, traceId, status };
    // It may have ended already, if history came before.
    const job = this.#jobs.get(jobId);
    job?.know({ ...facts, acceptedAt: undefined, credentials: [] });
    this.#options.pending.settle({ type: "subscribe", requestId, jobId }, undefined);
    const isHistory = this.#session?.losesLiveEvents === true;
    if (!job || !isHistory || !isJobStatus(status) || !isTerminal(status)) return;
    this.forget(job);
    const gone = `job ${jobId} ended before (${status}), and the runtime has forgotten how`;
    job.fail(new RollcallError("OUT_OF_RANGE", gone));
  }

  #error({ error, requestId }: SessionError): void {
    if (OF_THE_SESSION.has(error.code)) return;
    this.#options.pending.refuse({ requestId }, toldError(error));
  }

  #jobOf({ jobId }: EventMessage | JobEndMessage): JobHandle | undefined {
    if (jobId === undefined) return undefined;
    const known = this.#jobs.get(jobId);
    if (known || !this.#isInherited) return known;
    const job = this.#job(jobId);
    this.#unclaimed.add(job);
    if (this.#unclaimed.size > ARCP_CLIENT.unclaimedJobs) this.#letOldestGo();
    return job;
  }

  #letOldestGo(): void {
    for (const oldest of this.#unclaimed) {
      this.#unclaimed.delete(oldest);
      this.forget(oldest);
      return;
    }
  }

  #isNew({ eventSeq }: EventMessage | JobEndMessage, job: JobHandle | undefined): boolean {
    const isNumberedApart = job !== undefined && this.#subscriptions.has(job);
    if (this.#session?.losesLiveEvents === true && (isNumberedApart || !job)) return true;
    const { lastSeq } = this.#place;
    const arrival = this.#place.arrive(eventSeq);
    if (arrival === "gap") this.#options.onGap(lastSeq, eventSeq ?? 0);
    return arrival !== "repeated";
  }

  /** Their runtime does not tell them on this session any more: their history does. */
  async #findAgain(): Promise<void> {
    const jobs = this.jobs;
    try {
      if (jobs.length > 0) await this.#options.barrier();
    } catch {
      // The connection is lost again; the next one comes here, too.
      return;
    }
    for (const job of jobs) {
      if (!job.isOver) void this.#follow(job);
    }
  }

  async #follow(job: JobHandle): Promise<void> {
    job.expectHistory();
    this.#subscriptions.add(job);
    try {
      await this.#options.subscribe(job.id);
    } catch (error) {
      if (!(error instanceof RollcallError) || wireCodes(error.code).retry !== "never") return;
      this.forget(job);
      const message = `job ${job.id} was lost with its session: ${error.message}`;
      job.fail(new RollcallError("UNAVAILABLE", message, { cause: error }));
    }
  }

  /** A caller that awaits the end of a job without reading its events must not wait for ever. */
  #waitFor(job: JobHandle): void {
    const seen = job.oldestUnread;
    const stop = this.#options.clock.after(ARCP_CLIENT.stalledMs, () => {
      if (job.oldestUnread === seen) this.#goOn(job);
      else this.#waitFor(job);
    });
    this.#behind.set(job, stop);
    this.#options.onPace();
  }

  #goOn(job: JobHandle): void {
    this.#behind.get(job)?.();
    if (this.#behind.delete(job)) this.#options.onPace();
  }

  #leave(job: JobHandle): void {
    this.forget(job);
    if (this.#subscriptions.has(job)) {
      this.#options.send("job.unsubscribe", { job_id: job.id });
    }
  }

  /** The runtime drops acknowledged events, and with them those that a resume would need. */
  get #mayAck(): boolean {
    const session = this.#session;
    if (!this.#options.autoAck || !session || session.losesLiveEvents) return false;
    return session.features.includes("ack");
  }

  #progress(): { readonly read: number; readonly last: number } {
    const last = this.#place.lastSeq;
    let read = last;
    for (const job of this.#jobs.values()) {
      const { oldestUnread } = job;
      if (oldestUnread !== undefined) read = Math.min(read, oldestUnread - 1);
    }
    return { read, last };
  }
}

function unknownJob(jobId: string): JobFacts {
  return {
    jobId,
    agent: "unknown",
    lease: {},
    budget: new Map(),
    traceId: undefined,
    acceptedAt: undefined,
    credentials: [],
    status: "running",
  };
}
