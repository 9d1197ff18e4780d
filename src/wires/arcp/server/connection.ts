/**
 * One transport, from its first frame to its end.
 *
 *   opened ──hello──▶ verifying ──▶ opening ──(durable)──▶ welcomed ──▶ over
 *      │ deadline         │ nobody      │ refused                         ▲
 *      └──────────────────┴─────────────┴── session.error, closed ────────┘
 *
 * Nothing goes out before the welcome. What comes in before it waits, within bounds.
 */
import type { By } from "../../../core/by.ts";
import { codeOf } from "../../../core/errors.ts";
import type { Alarm, AlarmListener } from "./alarms.ts";
import { Dispatch, frameRefusal } from "./dispatch.ts";
import {
  frameText,
  sessionErrorPayload,
  welcomePayload,
  type RequestRef,
} from "../codec/encode.ts";
import { refusedSubmit } from "../codec/endings.ts";
import type { DecodeResult } from "../codec/envelope.ts";
import { arcpError, arcpErrorOf, type ArcpCode, type ArcpError } from "../codec/errors.ts";
import type { ClientMessage, Feature, Hello } from "../codec/messages.ts";
import { decodeRequest } from "../codec/requests.ts";
import type { LiveSession, SessionTerms } from "./session.ts";
import { INPUT, OUTPUT } from "./session-limits.ts";
import type { LiveSessions } from "./sessions.ts";
import type { Transport, TransportEnding, TransportListener } from "./transport.ts";
import type { AgentListing } from "../../../core/jobs/agent-ref.ts";
import type { Rate } from "../../../core/rate.ts";

/** The subject of a frame: a job, or only a trace. */
export interface FrameSubject {
  readonly id?: string | undefined;
  readonly traceId?: string | undefined;
}

/** Turns the token of a hello into its caller. What it throws is told to the client. */
export type Greeter = (token: string) => By | undefined | Promise<By | undefined>;

/** A message, as far as the right to send it goes. */
export type MessageToPermit = Pick<ClientMessage, "type"> & {
  readonly agent?: string | undefined;
  readonly jobId?: string | undefined;
};

/** Throws where the caller may not send such a message. */
export type PermitMessage = (by: By, message: MessageToPermit) => void;

/** The parts that all connections of a runtime share. */
export interface ConnectionHost {
  readonly runtime: { readonly name: string; readonly version: string };
  readonly sessions: LiveSessions;
  readonly greet: Greeter;
  readonly frames: Rate;
  readonly cancelBy: "session" | "principal";
  readonly permit?: PermitMessage | undefined;
  features(): readonly Feature[];
  agents(): readonly AgentListing[];
  onClosed(connection: ServerConnection): void;
  onTrouble(what: string, error: unknown): void;
}

const NORMAL: TransportEnding = { code: 1000, reason: "" };

export class ServerConnection implements TransportListener, AlarmListener {
  readonly openedMs: number;
  /** When a frame came last. */
  heardMs: number;
  readonly host: ConnectionHost;
  readonly #transport: Transport;
  #session: LiveSession | undefined;
  #dispatch: Dispatch | undefined;
  #deadline: Alarm | undefined;
  #early: string[] | undefined;
  #earlyBytes = 0;
  #isOver = false;

  constructor(host: ConnectionHost, transport: Transport) {
    const { alarms, limits } = host.sessions;
    this.host = host;
    this.#transport = transport;
    this.openedMs = alarms.nowMs();
    this.heardMs = this.openedMs;
    this.#deadline = alarms.set(this.openedMs + limits.helloMs, this);
  }

  get maxFrameBytes(): number {
    return this.#transport.maxFrameBytes;
  }

  /** Whether anything but a refusal may go out. */
  get isWelcomed(): boolean {
    return this.#dispatch !== undefined;
  }

  /** The hello did not come in time. */
  onAlarm(): void {
    this.#deadline = undefined;
    if (!this.#session) this.close({ code: 1008, reason: "no session.hello in time" });
  }

  onFrame(frame: string): void {
    if (this.#isOver) return;
    if (this.#dispatch) {
      this.heardMs = this.host.sessions.alarms.nowMs();
      this.#dispatch.onFrame(frame);
      return;
    }
    if (!this.#early) {
      this.#early = [];
      void this.#shakeHands(frame);
      return;
    }
    this.#early.push(frame);
    this.#earlyBytes += frame.length;
    if (this.#early.length > INPUT.earlyFrames || this.#earlyBytes > INPUT.earlyBytes) {
      this.close({ code: 1008, reason: "too much before the welcome" });
    }
  }

  onDrained(): void {
    this.#session?.output.pump();
  }

  onClosed(): void {
    this.#end();
  }

  async #shakeHands(frame: string): Promise<void> {
    const decoded = decodeRequest(frame);
    const hello = helloOf(decoded);
    if (!hello.ok) return this.#refuse(hello.error, hello.answered);
    const { message } = hello;
    const answered = { requestId: message.id, requestType: "session.hello" };
    try {
      const by = await this.host.greet(message.token);
      if (this.#isOver) return;
      if (by === undefined) {
        return this.#refuse(arcpError("UNAUTHENTICATED", "the token is not known"), answered);
      }
      this.#open(by, message);
    } catch (error) {
      if (codeOf(error) === "INTERNAL") this.host.onTrouble("a token could not be checked", error);
      this.#refuse(arcpErrorOf(error), answered);
    }
  }

  #open(by: By, hello: Hello): void {
    const { sessions } = this.host;
    const offered = this.host.features();
    const terms: SessionTerms = {
      profile: hello.profile,
      features: hello.features.filter((feature) => offered.includes(feature)),
      client: `${hello.client.name}/${hello.client.version}`,
    };
    const { session, token } = hello.resume
      ? sessions.resume({ by, terms, resume: hello.resume, connection: this })
      : sessions.open(by, terms, this);
    this.#session = session;
    sessions.alarms.cancel(this.#deadline);
    this.#deadline = undefined;
    const seen = hello.resume?.lastEventSeq ?? 0;
    sessions.term.after(() => this.#welcome(session, token, seen));
  }

  #welcome(session: LiveSession, token: string, seen: number): void {
    if (this.#isOver || session.connection !== this) return;
    const { sessions, runtime } = this.host;
    const { limits } = sessions;
    const payload = welcomePayload({
      runtime,
      sessionId: session.id,
      resumeToken: token,
      resumeWindowSec: limits.resumeWindowSec,
      heartbeatIntervalSec: session.has("heartbeat") ? limits.heartbeatSec : undefined,
      features: session.features,
      agents: this.host.agents(),
      acceptedAt: sessions.time(sessions.wallMs()),
    });
    this.#dispatch = new Dispatch(this, session);
    this.sendFrame("session.welcome", payload);
    session.output.attach(this.#transport, seen);
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const frame of early) this.onFrame(frame);
  }

  /** Control frames are few; who lets them pile up does not read at all. */
  sendFrame(type: string, payload: string, about: FrameSubject = {}): void {
    const { sessions } = this.host;
    const head = {
      id: `msg_${sessions.newId()}`,
      sessionId: this.#session?.id ?? `sess_${sessions.newId()}`,
      jobId: about.id,
      traceId: about.traceId,
    };
    this.#send(frameText(type, head, payload));
  }

  #send(frame: string): void {
    if (this.#isOver) return;
    if (this.#transport.waitingBytes > OUTPUT.closeBytes) {
      this.close({ code: 1013, reason: "the peer does not read" });
      return;
    }
    try {
      this.#transport.send(frame);
    } catch {
      this.close({ code: 1009, reason: "a frame is too large for this transport" });
    }
  }

  sendError(error: ArcpError, answered: RequestRef = {}, traceId?: string): void {
    this.sendFrame("session.error", sessionErrorPayload(error, answered), { traceId });
  }

  refuseSubmit(error: ArcpError, refused: { id?: string; traceId?: string }): void {
    const { sessions } = this.host;
    const session = this.#session;
    if (!session) return;
    const head = { id: `msg_${sessions.newId()}`, sessionId: session.id, traceId: refused.traceId };
    const frame = refusedSubmit({
      profile: session.profile,
      head,
      freshJobId: `job_${sessions.newId()}`,
      error,
      at: sessions.time(sessions.wallMs()),
      requestId: refused.id,
      requestType: "job.submit",
    });
    this.#send(frame);
  }

  /** Gives its nonce, which the answer repeats. */
  ping(): string {
    const { sessions } = this.host;
    const nonce = sessions.newId();
    const sentAt = sessions.time(sessions.wallMs());
    this.sendFrame("session.ping", `{"nonce":"${nonce}","sent_at":"${sentAt}"}`);
    return nonce;
  }

  /** Tells why, and closes. The session can be resumed. */
  fail(code: ArcpCode, message: string): void {
    this.sendError(arcpError(code, message));
    this.close(NORMAL);
  }

  #refuse(error: ArcpError, answered: RequestRef): void {
    if (this.#isOver) return;
    this.sendError(error, answered);
    this.close(NORMAL);
  }

  /** The session goes on elsewhere. */
  replaced(): void {
    this.close({ code: 1000, reason: "resumed by another connection" });
  }

  close(ending: TransportEnding = NORMAL): void {
    if (this.#isOver) return;
    this.#end();
    this.#transport.close(ending);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#early = undefined;
    const { sessions } = this.host;
    sessions.alarms.cancel(this.#deadline);
    if (this.#session) sessions.detach(this.#session, this);
    this.host.onClosed(this);
  }
}

type HelloFrame =
  | { readonly ok: true; readonly message: Hello }
  | { readonly ok: false; readonly error: ArcpError; readonly answered: RequestRef };

function helloOf(decoded: DecodeResult<ClientMessage>): HelloFrame {
  if (!decoded.ok) return { ok: false, ...frameRefusal(decoded) };
  const { message } = decoded;
  if (message.type === "session.hello") return { ok: true, message };
  const error = arcpError("INVALID_REQUEST", "the first frame is not a session.hello");
  return { ok: false, error, answered: { requestId: message.id, requestType: message.type } };
}
