/**
 * Frames over a WebSocket, for either end. We send text and take binary, too, as long as it is
 * UTF-8. All that is sent in one turn of the event loop leaves in one write: a burst of events is
 * one system call, not one each. A server's frames are laid out here, in one piece: `ws` makes two
 * of each and costs more than all that a runtime does for an event. Compression is off: it costs
 * more than loopback and data centres gain, and memory for every connection.
 */
import { isUtf8 } from "node:buffer";
import type { Agent, IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket, type RawData } from "ws";
import { invalidArgument, RollcallError } from "../../../core/errors.ts";
import { daemonAgent } from "../../../net/http/agent.ts";
import { decodeError } from "../../../net/http/refusal.ts";
import { readAnswer } from "../../../net/http/request.ts";
import type { ServerTrust } from "../../../net/tls/trust.ts";
import { failureReason } from "../../../net/reasons.ts";
import type { Transport, TransportEnding, TransportListener } from "../server/transport.ts";
import { checkOutbound, CLOSE_CODE, exceeds, NORMAL, TRANSPORT } from "./limits.ts";
import { textFrames } from "./text-frames.ts";

export interface WebSocketOptions {
  /** Beyond this the attempt is given up. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  /** Makes the connection below. */
  readonly agent?: Agent;
  /** The path of a unix socket that leads there, which is used where it is there. */
  readonly socket?: string | undefined;
  /** How to know the server of `wss:`; by the authorities of this system unless set. */
  readonly trust?: ServerTrust | undefined;
}

/** Options of `ws` at both ends. */
export const SOCKET_OPTIONS = {
  perMessageDeflate: false,
  maxPayload: TRANSPORT.inboundBytes,
  closeTimeout: TRANSPORT.closingMs,
} as const;

/** Connects to `ws://HOST:PORT/arcp`, or `wss:`. UNAVAILABLE when no server answers there. */
export async function connectWebSocket(
  url: string,
  options: WebSocketOptions = {},
): Promise<Transport> {
  const {
    timeoutMs = TRANSPORT.connectMs,
    signal,
    headers,
    agent = agentFor(url, options),
  } = options;
  checkUrl(url);
  signal?.throwIfAborted();
  const socket = new WebSocket(url, {
    ...SOCKET_OPTIONS,
    handshakeTimeout: timeoutMs,
    ...(headers && { headers }),
    ...(agent && { agent }),
  });
  return new Promise<Transport>((resolve, reject) => {
    let stream: Duplex | undefined;
    const abort = () => socket.terminate();
    signal?.addEventListener("abort", abort, { once: true });
    const settle = () => {
      signal?.removeEventListener("abort", abort);
      socket.off("error", fail);
    };
    const fail = (cause: Error) => {
      settle();
      // It tells once more that it never opened.
      socket.on("error", () => undefined);
      if (signal?.aborted) reject(new RollcallError("CANCELLED", "the call was cancelled"));
      else if (cause instanceof RollcallError) reject(cause);
      else reject(new RollcallError("UNAVAILABLE", unreachable(url, cause), { cause }));
    };
    socket.once("upgrade", (response) => (stream = response.socket));
    socket.once("unexpected-response", (_, response) => {
      void refusalIn(url, response).then((refusal) => {
        fail(refusal);
        socket.terminate();
      });
    });
    socket.once("error", fail);
    socket.once("open", () => {
      settle();
      if (stream) resolve(new WebSocketTransport(socket, new MaskedOutbox(socket, stream)));
    });
  });
}

/** The reason of a daemon that refuses; all other answers are told by their number. */
async function refusalIn(url: string, response: IncomingMessage): Promise<Error> {
  const body = await readAnswer(new URL(url), response).catch(() => "");
  const { code, message } = decodeError(body);
  const isRefusal = code === "UNAUTHENTICATED" || code === "PERMISSION_DENIED";
  if (isRefusal && message !== undefined) return new RollcallError(code, message);
  return new Error(`Unexpected server response: ${response.statusCode}`);
}

function agentFor(url: string, { socket, trust }: WebSocketOptions): Agent | undefined {
  if (socket === undefined && trust === undefined) return undefined;
  return daemonAgent({ url: url.replace(/^ws/, "http"), socket: socket ?? false, trust });
}

function checkUrl(url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed && ["ws:", "wss:", "http:", "https:"].includes(parsed.protocol)) return;
  throw invalidArgument(`url "${url}" is not a ws:// or wss:// address`);
}

/** The address without what may be secret in it. */
function unreachable(url: string, cause: Error): string {
  const { protocol, host, pathname } = new URL(url);
  const at = `${protocol}//${host}${pathname}`;
  const isPathless = pathname === "/" && /response: 40\d/.test(cause.message);
  const hint = isPathless ? `; the path is missing, as in ws://${host}/arcp` : "";
  return `no runtime answers at ${at} (${failureReason(cause)})${hint}`;
}

/** The server's end of a socket that is open, on the stream it was made of. */
export function webSocketTransport(
  socket: WebSocket,
  stream: Duplex,
  onWritten: () => void,
): Transport {
  return new WebSocketTransport(socket, new PlainOutbox(socket, stream, onWritten));
}

/** Gathers what is sent in a turn. */
interface FrameOutbox {
  /** Calls when it has left. */
  add(frame: string, onSent: () => void): void;
  /** Handed over, and not to the socket yet. */
  readonly gathered: number;
  flush(): void;
}

class PlainOutbox implements FrameOutbox {
  readonly #socket: WebSocket;
  readonly #stream: Duplex;
  readonly #onWritten: () => void;
  #frames: string[] = [];
  #onSent: () => void = () => undefined;
  gathered = 0;

  constructor(socket: WebSocket, stream: Duplex, onWritten: () => void) {
    this.#socket = socket;
    this.#stream = stream;
    this.#onWritten = onWritten;
  }

  add(frame: string, onSent: () => void): void {
    if (this.#frames.length === 0) setImmediate(this.flush);
    this.#frames.push(frame);
    this.#onSent = onSent;
    this.gathered += frame.length;
  }

  readonly flush = () => {
    if (this.#frames.length === 0) return;
    const frames = this.#frames;
    this.#frames = [];
    this.gathered = 0;
    // Nothing may follow the frame that closes.
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    if (!this.#stream.write(textFrames(frames), this.#onSent)) this.#onWritten();
  };
}

class MaskedOutbox implements FrameOutbox {
  readonly #socket: WebSocket;
  readonly #stream: Duplex;
  readonly gathered = 0;
  #isCorked = false;

  constructor(socket: WebSocket, stream: Duplex) {
    this.#socket = socket;
    this.#stream = stream;
  }

  add(frame: string, onSent: () => void): void {
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#stream.cork();
      setImmediate(this.flush);
    }
    this.#socket.send(frame, onSent);
  }

  readonly flush = () => {
    if (!this.#isCorked) return;
    this.#isCorked = false;
    this.#stream.uncork();
  };
}

class WebSocketTransport implements Transport {
  readonly maxFrameBytes = TRANSPORT.outboundBytes;
  readonly #socket: WebSocket;
  readonly #outbox: FrameOutbox;
  #listener: TransportListener | undefined;
  #ending: TransportEnding | undefined;

  constructor(socket: WebSocket, outbox: FrameOutbox) {
    this.#socket = socket;
    this.#outbox = outbox;
    // Nothing is read until somebody listens.
    socket.pause();
    socket.on("message", this.#onMessage);
    socket.on("error", this.#onError);
    socket.on("close", this.#onClose);
  }

  open(listener: TransportListener): void {
    if (this.#listener) throw new RollcallError("WRONG_STATE", "this transport is open already");
    this.#listener = listener;
    if (this.#socket.readyState === WebSocket.CLOSED) setImmediate(this.#onClose, CLOSE_CODE.lost);
    else this.#socket.resume();
  }

  send(frame: string): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    checkOutbound(frame, this.maxFrameBytes);
    this.#outbox.add(frame, this.#onSent);
  }

  get waitingBytes(): number {
    return this.#outbox.gathered + this.#socket.bufferedAmount;
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(ending: TransportEnding = NORMAL): void {
    if (this.#ending) return;
    this.#ending = ending;
    this.#socket.resume();
    // Queued frames go before the close frame.
    this.#outbox.flush();
    this.#socket.close(
      ending.code === CLOSE_CODE.lost ? CLOSE_CODE.leaving : ending.code,
      fitting(ending),
    );
  }

  readonly #onSent = () => {
    const isOpen = this.#socket.readyState === WebSocket.OPEN;
    if (isOpen && this.waitingBytes === 0) this.#listener?.onDrained();
  };

  readonly #onMessage = (data: RawData, isBinary: boolean) => {
    if (this.#ending) return;
    // As `ws` gives it unless asked otherwise.
    const bytes = data as Buffer;
    if (isBinary && !isUtf8(bytes)) {
      this.close({ code: CLOSE_CODE.notText, reason: "a frame that is not UTF-8" });
      return;
    }
    this.#listener?.onFrame(bytes.toString());
  };

  /** `close` follows, with the code that says what was wrong. */
  readonly #onError = (error: Error) => {
    const code = "code" in error && CODES[String(error.code)];
    if (code) this.#ending ??= { code, reason: error.message };
  };

  readonly #onClose = (code: number, reason?: Buffer) => {
    this.#ending ??= { code, reason: reason?.toString() ?? "" };
    this.#listener?.onClosed(this.#ending);
  };
}

/** Close codes by the error code of `ws`. */
const CODES: Readonly<Record<string, number>> = {
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: CLOSE_CODE.tooLarge,
  WS_ERR_INVALID_UTF8: CLOSE_CODE.notText,
};

function fitting({ reason }: TransportEnding): string {
  let text = reason;
  while (exceeds(text, TRANSPORT.reasonBytes)) text = text.slice(0, -1);
  return text;
}
