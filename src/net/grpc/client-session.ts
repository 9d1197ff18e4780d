/**
 * One HTTP/2 connection to a server.
 *
 *   connecting ──server's SETTINGS──▶ open ──GOAWAY──▶ leaving ──last stream ends──▶ gone
 *       │ refused, too slow, not HTTP/2   │                                          ▲
 *       ▼                                 └── socket closes, ping unanswered ────────┘
 *     fails
 *
 * It counts as open once the server has spoken, not when the kernel took the connection: a process
 * that is stopped accepts connections, too. While calls wait it is pinged, so that a server that
 * vanished without a word is noticed.
 */
import { connect as connectSocket, type Socket } from "node:net";
import { connect, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import type { TLSSocket } from "node:tls";
import { errorText, RollcallError } from "../../core/errors.ts";
import type { ClientLimits } from "./client-limits.ts";
import type { Timers } from "../../machine/waiting.ts";
import { failureReason } from "../reasons.ts";
import { connectTls, type ServerTrust } from "../tls/trust.ts";

export interface ClientSessionOptions {
  /** HOST:PORT. */
  readonly address: string;
  readonly limits: ClientLimits;
  readonly timers: Timers;
  /** Preferred to the address, where somebody listens there. */
  readonly socket?: string | undefined;
  /** Absent: the connection is plain. */
  readonly trust?: ServerTrust | undefined;
}

export class ClientSession {
  readonly #http2: ClientHttp2Session;
  readonly #options: ClientSessionOptions;
  #calls = 0;
  #idleSinceMs: number;
  #cancelPing: (() => void) | undefined;
  #isPinging = false;
  #isLeaving = false;
  /** Why it broke, where that is known. */
  #trouble = "the connection was lost";

  private constructor(http2: ClientHttp2Session, options: ClientSessionOptions) {
    this.#http2 = http2;
    this.#options = options;
    this.#idleSinceMs = options.timers.monotonicMs();
    http2.on("error", (error: Error) => (this.#trouble = failureReason(error)));
    http2.on("goaway", () => (this.#isLeaving = true));
    http2.on("close", () => this.#cancelPing?.());
  }

  static async open(options: ClientSessionOptions, signal: AbortSignal): Promise<ClientSession> {
    const { address, limits, timers, trust, socket } = options;
    const secure = trust && (await secureSocket(options, trust, signal));
    const below = secure ?? (socket === undefined ? undefined : await connectPath(socket));
    return new Promise((resolve, reject) => {
      const http2 = connect(`http${secure ? "s" : ""}://${address}`, {
        settings: { enablePush: false, initialWindowSize: limits.windowBytes },
        ...(below && { createConnection: () => below }),
      });
      // A caller that waits for an answer holds the process; see process-hold.ts.
      http2.unref();
      const fail = (why: string, cause?: unknown) => {
        settle();
        http2.destroy();
        reject(unreachable(address, why, cause));
      };
      const cancelTimer = timers.after(limits.connectMs, () =>
        fail(`connected, but silent for ${limits.connectMs} ms`),
      );
      const onError = (error: Error) => fail(failureReason(error), error);
      const onClose = () => fail("it hung up");
      const onAbort = () => fail("cancelled");
      const settle = () => {
        cancelTimer();
        signal.removeEventListener("abort", onAbort);
        http2.off("error", onError).off("close", onClose);
        http2.on("error", () => undefined);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      http2.on("error", onError).on("close", onClose);
      http2.once("remoteSettings", () => {
        settle();
        resolve(new ClientSession(http2, options));
      });
    });
  }

  /** Whether new calls may be made on it. */
  get isOpen(): boolean {
    return !this.#isLeaving && !this.#http2.closed && !this.#http2.destroyed;
  }

  get isGone(): boolean {
    return this.#http2.destroyed;
  }

  get trouble(): string {
    return `${this.#options.address}: ${this.#trouble}`;
  }

  /** Throws UNAVAILABLE when it has closed just now: then nothing was sent. */
  request(headers: Readonly<Record<string, string>>): ClientHttp2Stream {
    const stream = this.#begin(headers);
    const { limits, timers } = this.#options;
    const idleMs = timers.monotonicMs() - this.#idleSinceMs;
    this.#calls += 1;
    // After a long silence nobody knows whether the other end is still there.
    if (this.#calls === 1 && idleMs >= limits.keepaliveMs) this.probe();
    this.#schedulePing();
    stream.on("close", () => {
      this.#calls -= 1;
      if (this.#calls > 0) return;
      this.#idleSinceMs = timers.monotonicMs();
      this.#cancelPing?.();
      this.#cancelPing = undefined;
    });
    return stream;
  }

  #begin(headers: Readonly<Record<string, string>>): ClientHttp2Stream {
    try {
      return this.#http2.request(headers);
    } catch (cause) {
      const code = this.isOpen ? "INVALID_ARGUMENT" : "UNAVAILABLE";
      const message = errorText(cause);
      throw new RollcallError(code, message, { cause });
    }
  }

  /** Asks for a sign of life now; without one the session ends, and all its calls. */
  probe(): void {
    if (this.#isPinging || this.#http2.destroyed) return;
    const { limits, timers } = this.#options;
    this.#isPinging = true;
    const cancel = timers.after(limits.keepaliveTimeoutMs, () => {
      this.#trouble = `no answer to a ping for ${limits.keepaliveTimeoutMs} ms`;
      this.#http2.destroy();
    });
    this.#http2.ping(() => {
      cancel();
      this.#isPinging = false;
      this.#schedulePing();
    });
  }

  destroy(): void {
    this.#http2.destroy();
  }

  #schedulePing(): void {
    if (this.#calls === 0 || this.#http2.destroyed || this.#isPinging) return;
    this.#cancelPing?.();
    this.#cancelPing = this.#options.timers.after(this.#options.limits.keepaliveMs, () => {
      this.#cancelPing = undefined;
      this.probe();
    });
  }
}

/** Undefined where nobody listens: a server that was killed leaves its socket behind. */
function connectPath(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connectSocket(path);
    socket.once("error", () => resolve(undefined));
    socket.once("connect", () => {
      socket.removeAllListeners("error");
      resolve(socket);
    });
  });
}

/** The connection below, to a server that is known to be the right one. */
function secureSocket(
  { address, limits, timers }: ClientSessionOptions,
  trust: ServerTrust,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const { hostname, port } = new URL(`https://${address}`);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const target = { host, port: Number(port || 443), protocol: "h2" } as const;
  return new Promise((resolve, reject) => {
    const socket = connectTls(target, trust, (error) => {
      cancelTimer();
      signal.removeEventListener("abort", onAbort);
      if (error) reject(unreachable(address, failureReason(error), error));
      else resolve(socket);
    });
    const onAbort = () => socket.destroy(new Error("cancelled"));
    signal.addEventListener("abort", onAbort, { once: true });
    const cancelTimer = timers.after(limits.connectMs, () => {
      socket.destroy(new Error(`no TLS within ${limits.connectMs} ms`));
    });
  });
}

function unreachable(address: string, why: string, cause: unknown): RollcallError {
  return new RollcallError("UNAVAILABLE", `no daemon answers at ${address} (${why})`, { cause });
}
