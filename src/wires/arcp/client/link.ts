/**
 * The connection that a client has, or will have again.
 *
 *   connecting ──welcome──▶ live ──lost──▶ resuming ──welcome──▶ live …
 *        │                                    │ └──the session is gone──▶ a new one
 *        └── refused ──▶ dead ◀───────────────┘ refused for good, or nothing to dial
 *
 * Between tries it waits longer and longer, with some chance in it, so that a thousand clients of
 * a runtime that restarts do not come back in the same instant. A connection that ends right after
 * its welcome without anything new is such a try, too: a runtime may take each and let it go.
 */
import { codeOf, RollcallError, wireCodes } from "../../../core/errors.ts";
import type { Clock } from "../../../core/clock.ts";
import { ProcessHold } from "../../../machine/process-hold.ts";
import { backOff, pause, unlessAborted } from "../../../machine/waiting.ts";
import type { RuntimeMessage, ToldError } from "../codec/messages.ts";
import type { Transport } from "../server/transport.ts";
import { ClientConnection } from "./connection.ts";
import type { NewId } from "./frames.ts";
import { ARCP_CLIENT } from "./limits.ts";
import { sessionOf, type ArcpClientSession } from "./session.ts";
import type { Resumption } from "./types.ts";

export interface LinkOptions {
  readonly dial: (signal: AbortSignal) => Transport | Promise<Transport>;
  readonly mayRedial: boolean;
  readonly hello: (resume: Resumption | undefined) => string;
  /** How the session that was lost may be resumed. */
  readonly resumption: () => Resumption | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly newId: NewId;
  readonly onMessage: (message: RuntimeMessage, bytes: number) => void;
  /** Before any message of it. */
  readonly onLive: (session: ArcpClientSession, isResumed: boolean) => void;
  readonly onLost: (reason: string) => void;
  readonly onDead: (error: RollcallError) => void;
}

export class Link {
  readonly #options: LinkOptions;
  readonly #stop = new AbortController();
  readonly #hold = new ProcessHold();
  #connection: ClientConnection | undefined;
  /** Callers that wait for a connection. */
  #waiting: (() => void)[] = [];
  #dead: RollcallError | undefined;
  #losesLiveEvents = false;
  /** To connect again, since a connection was of use. */
  #tries = 0;
  /** Of the last welcome: when it came, and the number of the last event before it. */
  #welcome = { atMs: 0, seq: 0 };

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** The first connection; tried once, so that a wrong address or token shows at once. */
  async open(resume: Resumption | undefined, signal: AbortSignal | undefined): Promise<void> {
    const letGo = this.#hold.take();
    try {
      const opening = this.#connect(resume);
      await (signal ? unlessAborted(opening, signal) : opening);
    } catch (error) {
      this.#die(error as RollcallError);
      throw error;
    } finally {
      letGo();
    }
  }

  /** The connection there is, or the next one. */
  async live(): Promise<ClientConnection> {
    while (!this.#connection) {
      if (this.#dead) throw this.#dead;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    return this.#connection;
  }

  get current(): ClientConnection | undefined {
    return this.#connection;
  }

  close(reason: string): void {
    const connection = this.#connection;
    this.#die(new RollcallError("CANCELLED", reason));
    connection?.close(reason);
  }

  async #connect(resume: Resumption | undefined): Promise<void> {
    const { dial, hello, clock, newId, onMessage, onLive } = this.#options;
    const { signal } = this.#stop;
    const transport = await dial(signal);
    let early: (() => void)[] | undefined = [];
    const { connection, welcome } = await ClientConnection.open({
      transport,
      hello: hello(resume),
      clock,
      newId,
      signal,
      onMessage: (message, bytes) => {
        if (early) early.push(() => onMessage(message, bytes));
        else onMessage(message, bytes);
      },
      onOver: (reason) => {
        if (early) early.push(() => this.#lost(reason));
        else this.#lost(reason);
      },
    });
    signal.throwIfAborted();
    const session = sessionOf(welcome);
    this.#losesLiveEvents = session.losesLiveEvents;
    this.#connection = connection;
    onLive(session, resume !== undefined && welcome.sessionId === resume.sessionId);
    this.#welcome = { atMs: clock.monotonicMs(), seq: this.#lastSeq };
    // Frames of the same turn as the welcome.
    const came = early;
    early = undefined;
    for (const each of came) each();
    this.#wake();
  }

  #lost(reason: string): void {
    if (this.#dead) return;
    this.#connection = undefined;
    if (this.#wasOfUse) this.#tries = 0;
    this.#options.onLost(reason);
    if (this.#options.mayRedial) void this.#reconnect();
    else this.#die(new RollcallError("UNAVAILABLE", reason));
  }

  get #wasOfUse(): boolean {
    const { atMs, seq } = this.#welcome;
    const heldMs = this.#options.clock.monotonicMs() - atMs;
    return heldMs >= ARCP_CLIENT.heldMs || this.#lastSeq > seq;
  }

  get #lastSeq(): number {
    return this.#options.resumption()?.lastEventSeq ?? 0;
  }

  async #reconnect(): Promise<void> {
    const { clock, random, resumption } = this.#options;
    const letGo = this.#hold.take();
    let resume = resumption();
    let refusals = 0;
    try {
      for (;;) {
        const delayMs = this.#tries === 0 ? 0 : backOff(this.#tries - 1, ARCP_CLIENT, random);
        this.#tries += 1;
        if (delayMs > 0) await pause(clock, delayMs, this.#stop.signal);
        try {
          return await this.#connect(resume);
        } catch (error) {
          if (resume && isResumeRefusal(error)) {
            refusals += 1;
            if (!this.#losesLiveEvents || refusals >= ARCP_CLIENT.resumeTries) resume = undefined;
          } else if (!mayRetry(error)) {
            throw error;
          }
        }
      }
    } catch (error) {
      this.#die(error as RollcallError);
    } finally {
      letGo();
    }
  }

  #die(error: RollcallError): void {
    if (this.#dead) return;
    this.#dead = error;
    this.#connection = undefined;
    this.#stop.abort(error);
    this.#wake();
    this.#options.onDead(error);
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const each of waiting) each();
  }
}

/** Runtimes have two codes for a session that is no more. */
function isResumeRefusal(error: unknown): boolean {
  return ["OUT_OF_RANGE", "PERMISSION_DENIED", "NOT_FOUND"].includes(codeOf(error));
}

function mayRetry(error: unknown): boolean {
  if (!(error instanceof RollcallError)) return false;
  const told = error.cause as Partial<ToldError> | undefined;
  return told?.retryable === true || wireCodes(error.code).retry !== "never";
}
