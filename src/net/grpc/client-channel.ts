/**
 * Calls to one server, over one connection that is opened when it is first needed and again when it
 * was lost.
 *
 *   call ──▶ connect ──▶ send ──▶ answer
 *     ▲         │          │
 *     │ pause   │ fails    ├── surely not acted on ──┐
 *     └─────────┴──────────┴── UNAVAILABLE, and ─────┘
 *                              the method is safe to repeat
 *
 * A call is sent again only where that cannot do anything twice: what the server surely never acted
 * on (it was not reached, or refused the stream) always; what may have been done only when doing it
 * again changes nothing. Who knows that of a method says so; the channel never guesses.
 */
import type { ClientHttp2Stream } from "node:http2";
import { codeOf, RollcallError } from "../../core/errors.ts";
import { ProcessHold } from "../../machine/process-hold.ts";
import { CLIENT_LIMITS, type ClientLimits } from "./client-limits.ts";
import { CallScope } from "./client-scope.ts";
import { ClientSession } from "./client-session.ts";
import { Conversation } from "./client-conversation.ts";
import { MessageStream } from "./client-stream.ts";
import { backOff, pause, reasonOf, unlessAborted, type Timers } from "../../machine/waiting.ts";
import { framed } from "./frames.ts";
import { formatTimeout } from "./timeout.ts";
import type { ServerTrust } from "../tls/trust.ts";

export interface ChannelOptions {
  /** HOST:PORT. */
  readonly address: string;
  readonly timers: Timers;
  /** From 0 up to 1: the jitter of the waits. */
  readonly random?: () => number;
  readonly limits?: Partial<ClientLimits>;
  /** The path of the server's own socket, which is used where somebody listens there. */
  readonly socket?: string | undefined;
  /** Sent with every request, under names in lower case. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** How to know the server, over TLS; absent: connections are plain. */
  readonly trust?: ServerTrust | undefined;
}

export interface ChannelCallOptions {
  /** Absent: as long as it takes. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Sent along with the request, under names in lower case. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Doing it twice is the same as doing it once. */
  readonly isRepeatable?: boolean;
  /** A server that cannot be reached is told at once, not tried again. */
  readonly failsFast?: boolean;
  /** No caller awaits the answer: it does not keep the process alive. */
  readonly isBackground?: boolean;
}

export interface Request extends ChannelCallOptions {
  /** `/package.Service/Method` */
  readonly path: string;
  readonly body: Uint8Array;
}

export interface CallResult {
  readonly message: Buffer;
  readonly header: (name: string) => string | undefined;
}

/** The outcome of one try. */
type Try<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: unknown; readonly isUnprocessed: boolean };

export class GrpcChannel {
  readonly #options: ChannelOptions;
  readonly #limits: ClientLimits;
  readonly #hold = new ProcessHold();
  readonly #scopes = new Set<CallScope>();
  readonly #closed = new AbortController();
  #session: ClientSession | undefined;
  #opening: Promise<ClientSession> | undefined;
  /** Connections that failed since the last that did not, and how. */
  #failures = 0;
  #failure: unknown;

  constructor(options: ChannelOptions) {
    this.#options = options;
    this.#limits = { ...CLIENT_LIMITS, ...options.limits };
  }

  /** One request, one answer. */
  async call(request: Request): Promise<CallResult> {
    const scope = this.#begin(request, false);
    try {
      return await this.#persist(request, scope, () => this.#try(request, scope, answerOf));
    } finally {
      scope.end();
    }
  }

  /**
   * One request, a stream of answers. Resolves when the server has taken it; until then it is
   * repeated like a call, and `timeoutMs` is for that alone. Its caller must read or cancel it.
   */
  async open(request: Request): Promise<MessageStream> {
    const scope = this.#begin(request, true);
    try {
      const opened = async (stream: MessageStream) => {
        await stream.opened();
        return stream;
      };
      const stream = await this.#persist(request, scope, () => this.#try(request, scope, opened));
      scope.lift();
      stream.whenEnded(() => scope.end());
      return stream;
    } catch (error) {
      scope.end();
      throw error;
    }
  }

  /** Messages both ways until either side ends it. It is never repeated. */
  async converse(request: ChannelCallOptions & { readonly path: string }): Promise<Conversation> {
    const scope = this.#begin(request, true);
    try {
      const session = await this.#connected(scope.signal);
      const { http2, stream } = this.#send(session, request, scope);
      scope.lift();
      stream.whenEnded(() => scope.end());
      return new Conversation(http2, stream);
    } catch (error) {
      scope.end();
      throw error;
    }
  }

  /** Keeps the process alive, between calls too, until the returned function is called. */
  hold(): () => void {
    return this.#hold.take();
  }

  /** Idempotent; ends every call, and everything that kept the process alive. */
  close(): void {
    const reason = new RollcallError("CANCELLED", "this client is closed");
    this.#closed.abort(reason);
    for (const scope of this.#scopes) scope.abort(reason);
    this.#session?.destroy();
  }

  #begin({ timeoutMs, signal, isBackground }: ChannelCallOptions, isOpenEnded: boolean): CallScope {
    const { timers } = this.#options;
    const letGo = isBackground ? () => undefined : this.#hold.take();
    const onEnd = () => {
      this.#scopes.delete(scope);
      letGo();
    };
    const scope = new CallScope({ timers, timeoutMs, signal, isOpenEnded, onEnd });
    this.#scopes.add(scope);
    if (this.#closed.signal.aborted) scope.abort(reasonOf(this.#closed.signal));
    return scope;
  }

  /** Until it works, may not be repeated, or the time is up. */
  async #persist<T>(
    { isRepeatable = false, failsFast = false }: Request,
    scope: CallScope,
    attempt: () => Promise<Try<T>>,
  ): Promise<T> {
    let trouble: unknown;
    for (let tries = 0; ; tries += 1) {
      const tried = await attempt();
      if (tried.ok) return tried.value;
      const { error, isUnprocessed } = tried;
      if (scope.signal.aborted) throw (scope.isLate && (trouble ?? this.#failure)) || error;
      if (!isUnprocessed && !(isRepeatable && isPassing(error))) throw error;
      if (failsFast) throw error;
      trouble = error;
      // A connection that fails has waited already.
      if (error === this.#failure) continue;
      const delayMs = backOff(tries, this.#limits, this.#options.random ?? Math.random);
      await pause(this.#options.timers, delayMs, scope.signal).catch((cause: unknown) => {
        throw scope.isLate ? trouble : cause;
      });
    }
  }

  async #try<T>(
    request: Request,
    scope: CallScope,
    read: (stream: MessageStream) => Promise<T>,
  ): Promise<Try<T>> {
    let stream: MessageStream | undefined;
    let session: ClientSession | undefined;
    try {
      session = await this.#connected(scope.signal);
      const sent = this.#send(session, request, scope);
      stream = sent.stream;
      sent.http2.end(framed(request.body));
      return { ok: true, value: await read(stream) };
    } catch (error) {
      if (scope.isLate) session?.probe();
      const isUnsent = stream ? (stream.ending?.isUnprocessed ?? false) : true;
      return { ok: false, error, isUnprocessed: isUnsent && codeOf(error) === "UNAVAILABLE" };
    }
  }

  async #connected(signal: AbortSignal): Promise<ClientSession> {
    if (signal.aborted) throw reasonOf(signal);
    if (this.#session?.isOpen) return this.#session;
    this.#opening ??= this.#connect().finally(() => (this.#opening = undefined));
    return unlessAborted(this.#opening, signal);
  }

  async #connect(): Promise<ClientSession> {
    const { address, timers, random = Math.random, trust, socket } = this.#options;
    const { signal } = this.#closed;
    try {
      if (this.#failures > 0) {
        await pause(timers, backOff(this.#failures - 1, this.#limits, random), signal);
      }
      const how = { address, timers, limits: this.#limits, trust, socket };
      const session = await ClientSession.open(how, signal);
      if (signal.aborted) session.destroy();
      this.#session = session;
      this.#failures = 0;
      this.#failure = undefined;
      return session;
    } catch (error) {
      this.#failures += 1;
      this.#failure = error;
      throw error;
    }
  }

  #send(
    session: ClientSession,
    request: ChannelCallOptions & { readonly path: string },
    scope: CallScope,
  ): { readonly http2: ClientHttp2Stream; readonly stream: MessageStream } {
    const { remainingMs, signal } = scope;
    const http2 = session.request({
      ...this.#options.metadata,
      ...request.metadata,
      ":method": "POST",
      ":path": request.path,
      "content-type": "application/grpc",
      te: "trailers",
      ...(remainingMs !== undefined && { "grpc-timeout": formatTimeout(remainingMs) }),
    });
    const stream = new MessageStream(http2, {
      maxBytes: this.#limits.messageBytes,
      isGone: () => session.isGone,
      trouble: () => session.trouble,
    });
    const stop = () => stream.cancel(reasonOf(signal));
    signal.addEventListener("abort", stop, { once: true });
    stream.whenEnded(() => signal.removeEventListener("abort", stop));
    return { http2, stream };
  }
}

async function answerOf(stream: MessageStream): Promise<CallResult> {
  const message = await stream.next();
  if (!message) throw new RollcallError("INTERNAL", "the answer has no message");
  if (!(await stream.next())) return { message, header: (name) => stream.header(name) };
  const error = new RollcallError("INTERNAL", "the answer has more than one message");
  stream.cancel(error);
  throw error;
}

/** Whether the server may be able to answer soon. */
function isPassing(error: unknown): boolean {
  const code = codeOf(error);
  return code === "UNAVAILABLE" || code === "FENCED";
}
