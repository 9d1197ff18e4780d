/**
 * One GET by the daemon's own socket, for a command that asks once and ends: loading and starting
 * Node's HTTP client takes longer than all else that such a command does. HTTP/1.0, so that the
 * answer is a head and then its body in one piece, as long as the head says. With its last byte the
 * connection is let go of: to wait for its end would cost another turn.
 *
 * Only a good answer is one here. After anything else the caller asks again by the client, which
 * tells what is wrong.
 */
import { connect } from "node:net";
import { KIB } from "../../core/units.ts";
import { HTTP_CLIENT } from "./limits.ts";

export interface SocketRequest {
  /** Of the socket. */
  readonly socket: string;
  /** Of the daemon, and the path there. */
  readonly url: URL;
  readonly token?: string | undefined;
}

/** The body of a good answer. */
export function getBySocket({ socket, url, token }: SocketRequest): Promise<string | undefined> {
  const headers = [`Host: ${url.host}`, ...(token ? [`Authorization: Bearer ${token}`] : [])];
  const head = [`GET ${url.pathname}${url.search} HTTP/1.0`, ...headers].join("\r\n");
  return new Promise((resolve) => {
    const connection = connect(socket);
    const chunks: Buffer[] = [];
    let length = 0;
    let wholeLength: number | undefined;
    connection.setTimeout(QUICK_MS, () => connection.destroy());
    connection.on("error", () => resolve(undefined));
    connection.on("close", () => resolve(undefined));
    connection.on("data", (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      wholeLength ??= wholeLengthIn(chunks);
      if (length === wholeLength) resolve(bodyIn(Buffer.concat(chunks)));
      const most = wholeLength === undefined ? HEAD_BYTES : HTTP_CLIENT.bodyBytes;
      if (length >= Math.min(wholeLength ?? most, most)) connection.destroy();
    });
    connection.write(`${head}\r\n\r\n`);
  });
}

/** A daemon that is silent for longer is asked by the client, which waits with patience. */
const QUICK_MS = 1_000;

const GOOD = "HTTP/1.1 200 ";
const LENGTH = /\r\ncontent-length: (\d+)\r\n/i;

const HEAD_END = "\r\n\r\n";
/** An answer that has not said by then how long it is, is left to the client. */
const HEAD_BYTES = 16 * KIB;

/** Of head and body together; unknown until the head is there, and without a length in it. */
function wholeLengthIn(chunks: readonly Buffer[]): number | undefined {
  const answer = Buffer.concat(chunks);
  const end = answer.indexOf(HEAD_END);
  if (end === -1) return undefined;
  const [, length] = LENGTH.exec(answer.toString("latin1", 0, end + 2)) ?? [];
  return length === undefined ? undefined : end + HEAD_END.length + Number(length);
}

function bodyIn(answer: Buffer): string | undefined {
  const isGood = answer.toString("latin1", 0, GOOD.length) === GOOD;
  return isGood ? answer.toString("utf8", answer.indexOf(HEAD_END) + HEAD_END.length) : undefined;
}
