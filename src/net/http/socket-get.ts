/**
 * One GET by the daemon's own socket, for a command that asks once and ends: loading and starting
 * Node's HTTP client takes longer than all else that such a command does. HTTP/1.0, so that the
 * answer is a head and then its body, up to the end of the connection.
 *
 * Only a good answer is one here. After anything else the caller asks again by the client, which
 * tells what is wrong.
 */
import { connect } from "node:net";
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
    connection.setTimeout(QUICK_MS, () => connection.destroy());
    connection.on("error", () => resolve(undefined));
    connection.on("close", () => resolve(undefined));
    connection.on("data", (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length > HTTP_CLIENT.bodyBytes) connection.destroy();
    });
    connection.on("end", () => resolve(bodyIn(Buffer.concat(chunks))));
    connection.write(`${head}\r\n\r\n`);
  });
}

/** A daemon that is silent for longer is asked by the client, which waits with patience. */
const QUICK_MS = 1_000;

const GOOD = "HTTP/1.1 200 ";
const LENGTH = /\r\ncontent-length: (\d+)\r\n/i;

function bodyIn(answer: Buffer): string | undefined {
  const end = answer.indexOf("\r\n\r\n");
  const head = answer.toString("latin1", 0, end + 2);
  const body = answer.subarray(end + 4);
  const isWhole = Number(LENGTH.exec(head)?.[1]) === body.length;
  return end > 0 && head.startsWith(GOOD) && isWhole ? body.toString("utf8") : undefined;
}
