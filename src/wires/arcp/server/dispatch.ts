/**
 * The requests of a client, once it was welcomed: one frame, one answer. Every answer waits until
 * its contents are durable, and answers to submits go out in the order of the submits: two of the
 * three clients match them by that order alone.
 */
import { ITSELF } from "../../../core/by.ts";
import type { SubmitReply } from "../../../core/job-submit.ts";
import { codeOf, invalidArgument, RollcallError } from "../../../core/errors.ts";
import { isTerminal } from "../../../core/jobs/outcome.ts";
import { remainingOf, type Budget, type Counters } from "../../../core/jobs/budget.ts";
import { amountOfNumber } from "../../../core/jobs/decimal.ts";
import type { Job } from "../../../core/jobs.ts";
import type { JobOrder } from "../../../jobs/submissions.ts";
import { acceptedOf, listedOf, subscribedOf } from "../codec/answers.ts";
import { arcpError, arcpErrorOf, type ArcpError } from "../codec/errors.ts";
import type { RequestRef } from "../codec/encode.ts";
import type { FrameRefusal } from "../codec/envelope.ts";
import type {
  Cancel,
  ClientMessage,
  Feature,
  ListJobs,
  Ping,
  Submit,
  Subscribe,
} from "../codec/messages.ts";
import type { Rate } from "../../../core/rate.ts";
import { decodeRequest } from "../codec/requests.ts";
import type { PermitMessage } from "./connection.ts";
import { RecentMap } from "./recent-map.ts";
import type { LiveSession } from "./session.ts";
import { INPUT, SUBSCRIPTIONS } from "./session-limits.ts";
import { noJob, type LiveSessions } from "./sessions.ts";
import { ONLY_THE_END, LiveSubscription, type StartPoint } from "./subscription.ts";
import { TRACE_CONTEXT, traceContextOf } from "../codec/trace-context.ts";

/** The connection, as far as answers need it. */
export interface Answerer {
  readonly heardMs: number;
  readonly host: {
    readonly sessions: LiveSessions;
    readonly frames: Rate;
    readonly cancelBy: "session" | "principal";
    readonly permit?: PermitMessage | undefined;
  };
  /** Gives the nonce that the answer repeats. */
  ping(): string;
  sendFrame(type: string, payload: string): void;
  sendError(error: ArcpError, answered?: RequestRef, traceId?: string): void;
  refuseSubmit(error: ArcpError, refused: { id?: string; traceId?: string }): void;
  close(): void;
}

export class Dispatch {
  readonly #connection: Answerer;
  readonly #session: LiveSession;
  readonly #sessions: LiveSessions;
  /** Ids of frames. */
  readonly #recent = new RecentMap<true>(INPUT.recentIds);
  /** Continuations by the nonce of the ping whose pong they wait for. */
  #barriers: Map<string, () => void> | undefined;
  /** Submits behind one that waits for a policy or for credentials. */
  #line: (() => void | Promise<void>)[] | undefined;

  constructor(connection: Answerer, session: LiveSession) {
    this.#connection = connection;
    this.#session = session;
    this.#sessions = connection.host.sessions;
  }

  onFrame(frame: string): void {
    const decoded = decodeRequest(frame);
    // A client that sends a frame has read the welcome, and with it the new token.
    this.#prove();
    const { frames } = this.#connection.host;
    if (!frames.take(this.#session.principal, this.#connection.heardMs)) {
      const error = arcpError("INTERNAL_ERROR", "too many frames; try again later");
      const id = decoded.ok ? decoded.message.id : decoded.requestId;
      this.#error(error, id, decoded.ok ? decoded.message.type : decoded.requestType);
      return;
    }
    if (!decoded.ok) return this.#refuse(decoded);
    const { message } = decoded;
    const { sessionId } = message;
    if (sessionId !== undefined && sessionId !== this.#session.id) {
      const error = arcpError("INVALID_REQUEST", "session_id is not that of this session");
      this.#error(error, message.id, message.type);
      return;
    }
    try {
      this.#connection.host.permit?.(this.#session.by, message);
      this.#answer(message);
    } catch (error) {
      this.#fail(error, message);
    }
  }

  #prove(): void {
    const { isProven, id: sessionId } = this.#session;
    if (!isProven) this.#sessions.term.decide({ type: "session.prove", sessionId }, ITSELF);
  }

  #refuse(refusal: FrameRefusal): void {
    const { error, answered } = frameRefusal(refusal);
    const { requestId: id, requestType, traceId } = refusal;
    if (requestType !== "job.submit") {
      this.#reply(() => this.#connection.sendError(error, answered, traceId));
      return;
    }
    this.#inLine(() => this.#refuseSubmit(error, { id, traceId }));
  }

  /** A submit is refused in its turn, and in the form that clients know. */
  #fail(error: unknown, message: ClientMessage): void {
    if (message.type === "job.submit" && codeOf(error) === "PERMISSION_DENIED") {
      this.#inLine(() => this.#refuseSubmit(arcpErrorOf(error), message));
    } else {
      this.#error(arcpErrorOf(error), message.id, message.type);
    }
  }

  #answer(message: ClientMessage): void {
    switch (message.type) {
      case "session.ping":
        return this.#pong(message);
      case "session.pong":
        return this.#barriers?.get(message.pingNonce)?.();
      case "session.ack":
        return this.#session.acknowledge(message.lastProcessedSeq);
      case "x-vendor":
        return;
      case "session.bye":
        return this.#connection.close();
      case "session.close":
        return this.#close();
      case "session.hello":
        throw invalidArgument("this session was opened already");
      case "session.list_jobs":
        return this.#once(message.id, () => this.#list(message));
      case "job.submit":
        this.#session.lastSubmit = message.id;
        return this.#once(message.id, () => this.#inLine(() => this.#submit(message)));
      case "job.cancel":
        return this.#once(message.id, () => this.#cancel(message));
      case "job.subscribe":
        return this.#once(message.id, () => this.#subscribe(message));
      case "job.unsubscribe":
        return this.#session.subscriptions.get(message.jobId)?.close();
    }
  }

  /** A frame that comes twice counts once. */
  #once(id: string, call: () => void): void {
    if (this.#recent.set(id, true)) call();
  }

  #reply(call: () => void): void {
    this.#sessions.term.after(call);
  }

  #error(error: ArcpError, requestId: string | undefined, requestType: string | undefined): void {
    this.#reply(() => this.#connection.sendError(error, { requestId, requestType }));
  }

  #pong({ nonce }: Ping): void {
    const at = this.#sessions.time(this.#sessions.wallMs());
    const payload = `{"ping_nonce":${JSON.stringify(nonce)},"received_at":"${at}"}`;
    this.#connection.sendFrame("session.pong", payload);
  }

  #close(): void {
    this.#reply(() => {
      this.#connection.sendFrame("session.closed", "{}");
      this.#connection.close();
    });
  }

  #need(feature: Feature): void {
    if (this.#session.has(feature)) return;
    throw invalidArgument(`feature ${feature} was not agreed on`);
  }

  #inLine(call: () => void | Promise<void>): void {
    if (this.#line) {
      if (this.#line.length >= INPUT.waitingSubmits) {
        throw new RollcallError("LIMIT_EXCEEDED", `${INPUT.waitingSubmits} submits wait already`);
      }
      this.#line.push(call);
      return;
    }
    const waiting = call();
    if (!waiting) return;
    this.#line = [];
    void this.#drain(waiting);
  }

  async #drain(first: Promise<void>): Promise<void> {
    await first;
    for (let next = this.#line?.shift(); next; next = this.#line?.shift()) await next();
    this.#line = undefined;
  }

  #submit(message: Submit): void | Promise<void> {
    const session = this.#session;
    const again = this.#sessions.job(session.submits.get(message.id) ?? "");
    // Its events since then are numbered in this very session.
    if (again) return this.#accepted({ job: again, isRepeated: false }, message);
    const refuse = (error: unknown) => this.#refuseSubmit(arcpErrorOf(error), message);
    try {
      const submitted = this.#order(message);
      if (!(submitted instanceof Promise)) return this.#accepted(submitted, message);
      const accept = (done: SubmitReply) => this.#accepted(done, message);
      return submitted.then(accept, refuse);
    } catch (error) {
      refuse(error);
    }
  }

  #order(message: Submit): SubmitReply | Promise<SubmitReply> {
    const { jobs } = this.#sessions;
    const session = this.#session;
    if (message.leaseConstraints) this.#need("lease_expires_at");
    if (message.leaseRequest["cost.budget"]) this.#need("cost.budget");
    const order: JobOrder = {
      by: session.by,
      session: session.id,
      agent: message.agent,
      input: message.input,
      lease: message.leaseRequest,
      expiresAtMs: message.leaseConstraints?.expiresAtMs,
      key: message.idempotencyKey,
      maxRuntimeSec: message.maxRuntimeSec,
      traceId: message.traceId,
      traceContext: traceContextOf(message.extensions?.[TRACE_CONTEXT]),
      requestId: message.id,
      delegateId: message.delegateId,
      takesCredentials: session.has("provisioned_credentials"),
    };
    const { parentJobId: parent } = message;
    if (parent === undefined) return jobs.submit(order);
    // The claim to be a child is checked: the rules of a delegation hold for every caller.
    if (this.#sessions.job(parent)?.principal !== session.principal) throw noJob(parent);
    return jobs.submit({ ...order, parent });
  }

  #refuseSubmit(
    error: ArcpError,
    refused: { id?: string | undefined; traceId?: string | undefined },
  ) {
    const { id, traceId } = refused;
    const told = { ...(id !== undefined && { id }), ...(traceId !== undefined && { traceId }) };
    this.#reply(() => this.#connection.refuseSubmit(error, told));
  }

  #accepted({ job, isRepeated }: SubmitReply, { id: requestId }: Submit): void {
    const session = this.#session;
    const isOver = isTerminal(job.status);
    const isOwn = job.session === session.id;
    if (isOwn && !isRepeated) session.submits.set(requestId, job.id);
    this.#reply(() => {
      const at = this.#sessions.time(job.submittedAtMs);
      const credentials = this.#sessions.jobs.run(job.id)?.credentials ?? [];
      const terms = { at, requestId, credentials };
      session.send("job.accepted", acceptedOf(session.profile, job, terms), job);
    });
    if (!isRepeated || (isOwn && !isOver)) return;
    // The end once more; or, of a job of another session, what comes from now on.
    const subscription = this.#follow(job, { after: isOver ? ONLY_THE_END : undefined });
    this.#reply(() => subscription.read());
  }

  #follow(job: Job, beginning: StartPoint): LiveSubscription {
    const sessions = this.#sessions;
    const session = this.#session;
    const subscription = new LiveSubscription({ sessions, session, job }, beginning);
    const { after } = subscription;
    const { ownerSeq } = beginning;
    const record = { sessionId: session.id, jobId: job.id, after, seq: session.head, ownerSeq };
    sessions.term.decide({ type: "session.subscribe", ...record }, session.by);
    return subscription;
  }

  #list({ id, filter, limit, cursor }: ListJobs): void {
    this.#need("list_jobs");
    const after = cursor === undefined ? undefined : jobIdOf(cursor);
    const { jobs, next } = this.#sessions.jobs.page(this.#session.by, { filter, limit, after });
    const lastSeq = (job: Job) => this.#lastSeq(job);
    const payload = listedOf(id, { jobs, next }, lastSeq);
    this.#reply(() => this.#connection.sendFrame("session.jobs", payload));
  }

  /** In the numbers of this session. */
  #lastSeq(job: Job): number {
    if (job.session === this.#session.id) {
      return this.#sessions.jobs.run(job.id)?.lastSeq ?? job.lastSeq ?? 0;
    }
    return this.#session.subscriptions.get(job.id)?.lastSeq ?? 0;
  }

  #cancel({ jobId, reason }: Cancel): void {
    const session = this.#session;
    const { cancelBy: scope } = this.#connection.host;
    const from = { session: session.id, scope };
    const job = this.#sessions.job(jobId);
    // The acknowledgement goes out before the end that it may bring about at once.
    const isRunning = job !== undefined && !isTerminal(job.status);
    if (!this.#sessions.jobs.cancel({ jobId, reason, from }, session.by) || !isRunning) return;
    this.#reply(() => session.send("job.cancelled", JSON.stringify({ reason }), job));
  }

  #subscribe({ id, jobId, history, fromEventSeq }: Subscribe): void {
    this.#need("subscribe");
    const session = this.#session;
    const job = this.#sessions.jobs.find(session.by, jobId);
    if (!job) throw noJob(jobId);
    if (session.subscriptions.size >= SUBSCRIPTIONS.perSession) {
      throw new RollcallError("LIMIT_EXCEEDED", "too many subscriptions in one session");
    }
    // Its own job tells it everything already; only of one that ended there may be more to tell.
    const isOver = isTerminal(job.status);
    const isHeard = job.session === session.id && !isOver;
    const replayed = history && !isHeard;
    const run = isOver ? undefined : this.#sessions.jobs.run(job.id);
    const remaining = run ? remainingOf(run.entry.purse) : countersAsBudget(job.budget);
    const terms = { requestId: id, replayed, subscribedFrom: session.head, remaining };
    const payload = subscribedOf(job, terms);
    this.#reply(() => session.send("job.subscribed", payload, job));
    if (isHeard) return;
    // Without history there is still the end, for which somebody waits.
    const last = isOver ? ONLY_THE_END : undefined;
    const ownerSeq = fromEventSeq;
    const subscription = this.#follow(job, replayed ? { after: 0, ownerSeq } : { after: last });
    this.#reply(() => this.#readSoon(subscription));
  }

  /**
   * The Python client loses history that it reads in one go with the answer. It answers pings in
   * the order of frames, so once it has answered one, it has dealt with what came before.
   */
  #readSoon(subscription: LiveSubscription): void {
    if (this.#session.profile !== "py") return subscription.read();
    const { alarms } = this.#sessions;
    const barriers = (this.#barriers ??= new Map<string, () => void>());
    const nonce = this.#connection.ping();
    const read = () => {
      alarms.cancel(alarm);
      if (barriers.delete(nonce)) subscription.read();
    };
    const alarm = alarms.set(alarms.nowMs() + SUBSCRIPTIONS.patienceMs, { onAlarm: read });
    barriers.set(nonce, read);
  }
}

function countersAsBudget(counters: Counters = {}): Budget {
  return new Map(
    Object.entries(counters).map(([name, left]) => [name, amountOfNumber(left) ?? 0n]),
  );
}

function jobIdOf(cursor: string): string {
  const jobId = Buffer.from(cursor, "base64url").toString();
  if (/^job_[0-9A-Z]{26}$/.test(jobId)) return jobId;
  throw invalidArgument("cursor is not one that was given out");
}

export function frameRefusal(refusal: FrameRefusal): {
  readonly error: ArcpError;
  readonly answered: RequestRef;
} {
  const { code, message, requestId, requestType } = refusal;
  return { error: arcpError(code, message), answered: { requestId, requestType } };
}
