/**
 * A client of an ARCP runtime: submits jobs, follows them, lists and cancels them. It works with
 * our runtime and with those of the Python and TypeScript SDKs, which differ: see session.ts and
 * pending.ts for how.
 *
 * A connection that is lost is made again, and the session resumed: jobs go on, their events come
 * once each. Requests that waited for an answer then fail, because nobody can tell whether they
 * were heard; a submit with an idempotency key may simply be sent again.
 */
import { newTraceId } from "../../../jobs/trace-id.ts";
import { RollcallError } from "../../../core/errors.ts";
import type { Clock } from "../../../core/clock.ts";
import { systemClock } from "../../../machine/clock.ts";
import { unlessAborted } from "../../../machine/waiting.ts";
import { FEATURES, type JobsListing } from "../codec/messages.ts";
import type { Transport } from "../server/transport.ts";
import { connectWebSocket } from "../transports/websocket.ts";
import type { ClientConnection } from "./connection.ts";
import { FollowedJobs } from "./followed.ts";
import { idMaker, helloFrame, listPayload, submitPayload, traceExtensions } from "./frames.ts";
import type { NewId } from "./frames.ts";
import type { JobHandle } from "./job.ts";
import { ARCP_CLIENT } from "./limits.ts";
import { Link } from "./link.ts";
import { PendingRequests, type RequestType } from "./pending.ts";
import { resumptionOf, type ArcpClientSession } from "./session.ts";
import type {
  ArcpClientOptions,
  CallOptions,
  Destination,
  ListedJob,
  ListOptions,
  Resumption,
  SubmitOptions,
  SubscribeOptions,
} from "./types.ts";

interface PendingCall {
  readonly type: RequestType;
  readonly jobId?: string;
  readonly traceId?: string;
  readonly send: (id: string, connection: ClientConnection) => void;
}

const CLIENT_INFO = { name: "rollcall", version: "1.1" } as const;

export class ArcpClient implements AsyncDisposable {
  readonly #options: ArcpClientOptions;
  readonly #clock: Clock;
  readonly #newId: NewId;
  readonly #pending: PendingRequests;
  readonly #link: Link;
  readonly #followed: FollowedJobs;
  #session: ArcpClientSession | undefined;
  #isOver = false;

  private constructor(to: Destination, options: ArcpClientOptions) {
    this.#options = options;
    const clock = options.clock ?? systemClock;
    this.#clock = clock;
    this.#newId = idMaker(() => clock.wallMs());
    this.#pending = new PendingRequests(clock, () => this.#pace());
    this.#followed = new FollowedJobs({
      clock,
      pending: this.#pending,
      autoAck: options.autoAck ?? true,
      onGap: (after, before) => options.onState?.({ kind: "gap", after, before }),
      subscribe: (jobId) => this.#subscribe(jobId, true, {}),
      barrier: async () => {
        await this.#ask({}, { type: "ping", send: (id, connection) => this.#ping(id, connection) });
      },
      cancel: (jobId, reason) => this.cancel(jobId, { reason }),
      onPace: () => this.#pace(),
      send: (type, payload) => {
        this.#link.current?.send(type, { id: this.#id() }, payload);
      },
    });
    this.#link = new Link({
      dial: dialer(to, options),
      mayRedial: typeof to !== "object" && (options.reconnect ?? true),
      hello: (resume) =>
        helloFrame(this.#newId(), {
          client: options.client ?? CLIENT_INFO,
          token: options.token,
          features: options.features ?? FEATURES,
          resume,
        }),
      resumption: () => this.resumption,
      clock,
      random: options.random ?? Math.random,
      newId: this.#newId,
      onMessage: (message, bytes) => this.#followed.take(message, bytes),
      onLive: (session, isResumed) => this.#live(session, isResumed),
      onLost: (reason) => this.#lost(reason),
      onDead: (error) => this.#dead(error),
    });
  }

  /** Connects and says hello. Throws when there is nobody, or the token is refused. */
  static async connect(to: Destination, options: ArcpClientOptions): Promise<ArcpClient> {
    const client = new ArcpClient(to, options);
    const { signal, resume } = options;
    signal?.throwIfAborted();
    signal?.addEventListener("abort", client.#onAbort, { once: true });
    await client.#link.open(resume, signal);
    return client;
  }

  /** The session as negotiated with the runtime. */
  get session(): Pick<ArcpClientSession, "sessionId" | "runtime" | "features" | "agents"> {
    if (this.#session) return this.#session;
    throw new RollcallError("WRONG_STATE", "there is no session yet");
  }

  /** For another client that shall go on with this session; changes with every connection. */
  get resumption(): Resumption | undefined {
    return this.#session && resumptionOf(this.#session, this.#followed.lastSeq);
  }

  /** Resolves when the runtime has taken the job; its end comes later. */
  async submit(options: SubmitOptions): Promise<JobHandle> {
    const { traceId = newTraceId(), ...call } = options;
    const extensions = traceExtensions(options);
    return this.#ask<JobHandle>(call, {
      type: "submit",
      traceId,
      send: (id, connection) => {
        const head = { id, traceId, ...(extensions && { extensions }) };
        connection.send("job.submit", head, submitPayload(options));
      },
    });
  }

  /** Asks for the end of a job. Resolves when the runtime has heard it. */
  async cancel(jobId: string, options: CallOptions & { readonly reason?: string } = {}) {
    const { reason = "client.cancel", ...call } = options;
    await this.#ask(call, {
      type: "cancel",
      jobId,
      send: (id, connection) => {
        connection.send("job.cancel", { id, jobId }, { reason });
        // Not every runtime answers a cancel, but each answers a ping, and in order.
        this.#ping(id, connection);
      },
    });
  }

  /** The jobs of this principal, page by page as they are read. */
  async *listJobs(options: ListOptions = {}): AsyncGenerator<ListedJob, void> {
    let cursor: string | undefined;
    do {
      const page: JobsListing = await this.#page(options, cursor);
      yield* page.jobs;
      if (page.nextCursor === cursor) return;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }

  /** Follows a job that somebody submitted, with what it said before unless told otherwise. */
  async subscribe(jobId: string, options: SubscribeOptions = {}): Promise<JobHandle> {
    const { history = true, ...call } = options;
    const job = this.#followed.expect(jobId);
    try {
      await this.#subscribe(jobId, history, call);
    } catch (error) {
      this.#followed.forget(job);
      throw error;
    }
    return job;
  }

  /** A job of a session that was resumed from an earlier client. */
  job(jobId: string): JobHandle {
    return this.#followed.claim(jobId);
  }

  /** The jobs that this client follows. */
  get jobs(): readonly JobHandle[] {
    return this.#followed.jobs;
  }

  /** Says goodbye. Jobs go on, and the session may be resumed for a while. Idempotent. */
  async close(reason = "client.close"): Promise<void> {
    this.#link.close(reason);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  readonly #onAbort = () => void this.close("aborted");

  async #page(options: ListOptions, cursor: string | undefined): Promise<JobsListing> {
    const { pageSize = ARCP_CLIENT.pageSize } = options;
    return this.#ask<JobsListing>(options, {
      type: "list",
      send: (id, connection) => {
        connection.send("session.list_jobs", { id }, listPayload(options, pageSize, cursor));
      },
    });
  }

  async #subscribe(jobId: string, history: boolean, call: CallOptions): Promise<void> {
    await this.#ask(call, {
      type: "subscribe",
      jobId,
      send: (id, connection) => {
        const payload = { job_id: jobId, history, from_event_seq: history ? 0 : undefined };
        connection.send("job.subscribe", { id, jobId }, payload);
      },
    });
  }

  #id(): string {
    return `msg_${this.#newId()}`;
  }

  #ping(nonce: string, connection: ClientConnection): void {
    const payload = { nonce, sent_at: new Date(this.#clock.wallMs()).toISOString() };
    connection.send("session.ping", { id: this.#id() }, payload);
  }

  /** Sends when there is a connection, and waits for the answer; both within one time limit. */
  async #ask<Answer>(call: CallOptions, asked: PendingCall): Promise<Answer> {
    const { type, jobId, traceId, send } = asked;
    const { signal, timeoutMs = ARCP_CLIENT.answerMs } = call;
    signal?.throwIfAborted();
    const untilMs = this.#clock.monotonicMs() + timeoutMs;
    const connection = this.#link.current ?? (await this.#connected(timeoutMs, signal));
    const id = this.#id();
    const answer = this.#pending.add<Answer>({
      id,
      type,
      timeoutMs: Math.max(1, untilMs - this.#clock.monotonicMs()),
      ...(jobId !== undefined && { jobId }),
      ...(traceId !== undefined && { traceId }),
      ...(signal && { signal }),
    });
    try {
      send(id, connection);
    } catch (error) {
      this.#pending.refuse({ requestId: id }, error as RollcallError);
    }
    return answer;
  }

  async #connected(timeoutMs: number, signal: AbortSignal | undefined) {
    const stop = new AbortController();
    const late = new RollcallError("DEADLINE_EXCEEDED", "the runtime could not be reached in time");
    const cancelTimer = this.#clock.after(timeoutMs, () => stop.abort(late));
    try {
      const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
      return await unlessAborted(this.#link.live(), either);
    } finally {
      cancelTimer();
    }
  }

  /** A slow reader stops the runtime, unless somebody waits for what it answers. */
  #pace(): void {
    const connection = this.#link.current;
    if (this.#followed.isBehind && this.#pending.size === 0) connection?.pause();
    else connection?.resume();
  }

  #live(session: ArcpClientSession, isResumed: boolean): void {
    const isFirst = this.#session === undefined;
    this.#session = session;
    const lastSeq = isResumed ? (this.#options.resume?.lastEventSeq ?? 0) : 0;
    this.#followed.live(session, { isFirst, isResumed, lastSeq });
    this.#pace();
    if (isFirst) this.#options.onState?.({ kind: "live" });
    else this.#options.onState?.({ kind: isResumed ? "resumed" : "renewed" });
  }

  #lost(reason: string): void {
    const message = `${reason}; whether the runtime heard the request is not known`;
    this.#pending.failAll(new RollcallError("UNAVAILABLE", message));
    this.#followed.lost();
    this.#options.onState?.({ kind: "lost", reason });
  }

  #dead(error: RollcallError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    this.#pending.failAll(error);
    this.#followed.fail(error);
  }
}

function dialer(
  to: Destination,
  { socket, trust }: ArcpClientOptions,
): (signal: AbortSignal) => Transport | Promise<Transport> {
  if (typeof to === "string") return (signal) => connectWebSocket(to, { signal, socket, trust });
  return typeof to === "function" ? to : () => to;
}
