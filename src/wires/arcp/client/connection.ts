/**
 * One connection, from its hello to its end. It answers pings by itself, and ends when a runtime
 * that promised to ping has been silent for too long.
 *
 *   opened ──hello──▶ greeting ──welcome──▶ live ──lost | silent | close()──▶ over (onOver, once)
 *                         └──error, or no welcome in time──▶ over
 */
import { RollcallError } from "../../../core/errors.ts";
import type { Clock } from "../../../core/clock.ts";
import type { RuntimeMessage, Welcome } from "../codec/messages.ts";
import { decodeReply } from "../codec/reading.ts";
import type { Transport, TransportEnding } from "../server/transport.ts";
import { outgoingFrame, type NewId, type OutgoingHead } from "./frames.ts";
import { toldError } from "./job.ts";
import { ARCP_CLIENT } from "./limits.ts";

export interface ClientConnectionOptions {
  readonly transport: Transport;
  readonly hello: string;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly signal: AbortSignal;
  /** Every message after the welcome, with the size of its frame. */
  readonly onMessage: (message: RuntimeMessage, bytes: number) => void;
  /** The last call, once; not for a connection that never became live. */
  readonly onOver: (reason: string) => void;
}

export class ClientConnection {
  readonly #options: ClientConnectionOptions;
  #sessionId = "";
  #heardMs = 0;
  #stopWatch: () => void = () => undefined;
  /** While nothing is read, because the reader of the events fell behind. */
  #stopKeepAlive: (() => void) | undefined;
  #keepAliveMs: number = ARCP_CLIENT.keepAliveMs;
  #greeted: ((welcome: Welcome) => void) | undefined;
  #refused: (error: RollcallError) => void = () => undefined;
  #isOver = false;

  private constructor(options: ClientConnectionOptions) {
    this.#options = options;
  }

  /** Says hello and waits for the welcome. */
  static async open(
    options: ClientConnectionOptions,
  ): Promise<{ readonly connection: ClientConnection; readonly welcome: Welcome }> {
    const connection = new ClientConnection(options);
    const welcome = await connection.#greet();
    return { connection, welcome };
  }

  async #greet(): Promise<Welcome> {
    const { transport, hello, clock, signal } = this.#options;
    const abort = () => this.#end(new RollcallError("CANCELLED", "the call was cancelled"));
    const stopTimer = clock.after(ARCP_CLIENT.answerMs, () => {
      const message = `the runtime sent no welcome within ${ARCP_CLIENT.answerMs} ms`;
      this.#end(new RollcallError("DEADLINE_EXCEEDED", message));
    });
    signal.addEventListener("abort", abort, { once: true });
    try {
      return await new Promise<Welcome>((resolve, reject) => {
        this.#greeted = resolve;
        this.#refused = reject;
        if (signal.aborted) abort();
        transport.open({
          onFrame: (frame) => this.#take(frame),
          onDrained: () => undefined,
          onClosed: (ending) => this.#over(ending),
        });
        transport.send(hello);
      });
    } finally {
      stopTimer();
      signal.removeEventListener("abort", abort);
    }
  }

  send(type: string, head: Omit<OutgoingHead, "sessionId">, payload: object): void {
    this.#options.transport.send(
      outgoingFrame(type, { ...head, sessionId: this.#sessionId }, payload),
    );
  }

  /** Takes nothing more for now; the runtime is told that we live. Idempotent. */
  pause(): void {
    const { transport } = this.#options;
    if (this.#stopKeepAlive || this.#isOver || !transport.pause) return;
    transport.pause();
    this.#keepAlive();
  }

  resume(): void {
    if (!this.#stopKeepAlive) return;
    this.#stopKeepAlive();
    this.#stopKeepAlive = undefined;
    this.#heardMs = this.#options.clock.monotonicMs();
    this.#options.transport.resume?.();
  }

  #keepAlive(): void {
    const { clock } = this.#options;
    this.#stopKeepAlive = clock.after(this.#keepAliveMs, () => {
      const id = this.#id();
      const sentAt = new Date(clock.wallMs()).toISOString();
      this.send("session.ping", { id }, { nonce: id, sent_at: sentAt });
      this.#keepAlive();
    });
  }

  /** Says goodbye and ends it; the session may be resumed. */
  close(reason: string): void {
    if (this.#isOver) return;
    this.send("session.bye", { id: this.#id() }, { reason });
    this.#end(new RollcallError("CANCELLED", reason));
  }

  #id(): string {
    return `msg_${this.#options.newId()}`;
  }

  #take(frame: string): void {
    if (this.#isOver) return;
    this.#heardMs = this.#options.clock.monotonicMs();
    const decoded = decodeReply(frame);
    // A frame that cannot be read is ignored; a request that waits for it meets its timeout.
    if (!decoded.ok) return;
    const { message } = decoded;
    if (this.#greeted) this.#welcome(message);
    else if (message.type === "session.ping") this.#pong(message.nonce);
    else this.#options.onMessage(message, frame.length);
  }

  #welcome(message: RuntimeMessage): void {
    if (message.type === "session.error") return this.#end(toldError(message.error));
    if (message.type !== "session.welcome") return;
    this.#sessionId = message.sessionId;
    this.#watch(message.heartbeatIntervalSec);
    this.#greeted?.(message);
    this.#greeted = undefined;
  }

  #pong(nonce: string): void {
    const receivedAt = new Date(this.#options.clock.wallMs()).toISOString();
    this.send("session.pong", { id: this.#id() }, { ping_nonce: nonce, received_at: receivedAt });
  }

  #watch(intervalSec: number | undefined): void {
    if (intervalSec === undefined) return;
    this.#keepAliveMs = Math.min(ARCP_CLIENT.keepAliveMs, intervalSec * 1000);
    const longestMs = intervalSec * 1000 * ARCP_CLIENT.silentIntervals;
    const { clock } = this.#options;
    const look = () => {
      const isDeaf = this.#stopKeepAlive !== undefined;
      const silentMs = isDeaf ? 0 : clock.monotonicMs() - this.#heardMs;
      if (silentMs >= longestMs) {
        const message = `the runtime was silent for ${Math.round(silentMs / 1000)} s`;
        this.#end(new RollcallError("HEARTBEAT_LOST", message));
      } else {
        this.#stopWatch = clock.after(longestMs - silentMs, look);
      }
    };
    this.#stopWatch = clock.after(longestMs, look);
  }

  /** From our side. */
  #end(error: RollcallError): void {
    this.#finish(error);
    this.#options.transport.close();
  }

  #over({ code, reason }: TransportEnding): void {
    const why = reason === "" ? "" : `: ${reason}`;
    this.#finish(new RollcallError("UNAVAILABLE", `the connection ended with ${code}${why}`));
  }

  #finish(error: RollcallError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stopWatch();
    this.#stopKeepAlive?.();
    if (this.#greeted) this.#refused(error);
    else this.#options.onOver(error.message);
  }
}
