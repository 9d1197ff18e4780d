/** One request on one connection, and what comes back: headers judged, the body bounded. */
import { request as requestOn, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { pipeline } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { RollcallError } from "../../core/errors.ts";
import type { FetchLimits } from "./limits.ts";

export interface FetchRequest {
  readonly url: URL;
  readonly socket: Socket;
  readonly limits: FetchLimits;
  readonly signal: AbortSignal;
}

/** The body, or where the agent says it is. */
export type FetchResponse =
  | { readonly kind: "body"; readonly text: string }
  | { readonly kind: "redirect"; readonly location: string };

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const JSON_TYPE = /^(?:application|text)\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

export async function send(request: FetchRequest): Promise<FetchResponse> {
  const response = await responseTo(request);
  const { statusCode = 0, headers } = response;
  if (REDIRECTS.has(statusCode)) return { kind: "redirect", location: headers.location ?? "" };
  if (statusCode !== 200) throw failure(`HTTP status ${statusCode}, not 200`);
  const type = headers["content-type"] ?? "";
  if (!JSON_TYPE.test(type)) throw failure(`content-type ${JSON.stringify(type)} is not JSON`);
  const announced = Number(headers["content-length"] ?? 0);
  if (announced > request.limits.bodyBytes) throw tooLarge(request.limits.bodyBytes);
  return { kind: "body", text: await bodyOf(response, request.limits) };
}

async function responseTo({ url, socket, limits, signal }: FetchRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = requestOn({
      createConnection: () => socket,
      method: "GET",
      path: url.pathname + url.search,
      // Nothing of ours: no cookie, no token, no address of the caller.
      headers: {
        host: url.host,
        accept: "application/json",
        "accept-encoding": "gzip",
        "user-agent": "rollcall",
        connection: "close",
      },
      maxHeaderSize: limits.headerBytes,
      signal,
    });
    request.once("response", resolve);
    // It stays: an error after the response began shows in the body.
    request.on("error", reject);
    request.end();
  });
}

/** Decompressed in small pieces, so that a bomb is dropped after the first few. */
async function bodyOf(response: IncomingMessage, limits: FetchLimits): Promise<string> {
  const encoding = (response.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  const packed = bounded(response, limits.bodyBytes);
  const chunks: Buffer[] = [];
  for await (const chunk of bounded(unpack(packed, encoding), limits.bodyBytes)) chunks.push(chunk);
  return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
}

function unpack(packed: AsyncIterable<Buffer>, encoding: string): AsyncIterable<Buffer> {
  if (encoding === "identity") return packed;
  const through = unpackers[encoding]?.();
  if (!through) throw failure(`content-encoding ${JSON.stringify(encoding)} is unknown`);
  // The loop that reads learns of every failure from the stream itself.
  return pipeline(packed, through, () => undefined);
}

/** The same, up to where it becomes too much. */
async function* bounded(source: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    yield chunk;
  }
}

const unpackers: Readonly<Record<string, () => ReturnType<typeof createGunzip>>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

function tooLarge(maxBytes: number): RollcallError {
  return failure(`the body is larger than ${maxBytes} bytes`);
}

/** For the log only: the caller learns no more than that it failed. */
export function failure(reason: string, cause?: unknown): RollcallError {
  return new RollcallError("UNAVAILABLE", reason, { cause });
}
