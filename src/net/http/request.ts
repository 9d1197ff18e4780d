/**
 * One HTTP request to a daemon, with every way it can fail as a RollcallError.
 *
 * On node:http and not on fetch: loading fetch costs a command 40 ms of its start-up, and its body
 * timeout cuts a stream on which nothing happens.
 */
import { request, type Agent, type IncomingMessage } from "node:http";
import { RollcallError } from "../../core/errors.ts";
import { failureReason } from "../reasons.ts";
import { wholeBody } from "./body.ts";
import { HTTP_CLIENT } from "./limits.ts";
import { codeOfStatus, decodeError } from "./refusal.ts";

/** The way to a daemon, the same for all requests of a client. */
export interface DaemonLink {
  readonly agent: Agent;
  /** The bearer token to present, if any. */
  readonly token?: string | undefined;
}

export interface RequestOptions extends DaemonLink {
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, which makes it a POST. */
  readonly body?: string | undefined;
  /** How long it may take until the answer begins, where that is longer than usual. */
  readonly answerMs?: number | undefined;
}

/** Resolves with the head of a good answer; the body is the caller's to read or destroy. */
export async function open(url: URL, options: RequestOptions): Promise<IncomingMessage> {
  const response = await send(url, options);
  if (response.statusCode === 200 || response.statusCode === 202) return response;
  throw await refusal(url, response);
}

async function send(url: URL, options: RequestOptions): Promise<IncomingMessage> {
  const { agent, token, signal, body, answerMs = HTTP_CLIENT.answerMs } = options;
  signal?.throwIfAborted();
  const method = body === undefined ? "GET" : "POST";
  const headers = {
    ...options.headers,
    ...bearer(token),
    ...(body !== undefined && JSON_BODY),
  };
  return new Promise((resolve, reject) => {
    const call = request(url, { method, agent, headers });
    const giveUp = () => call.destroy(cancelled());
    signal?.addEventListener("abort", giveUp, { once: true });
    const done = () => signal?.removeEventListener("abort", giveUp);
    // Not the socket's own timeout, which begins anew with every byte.
    const timer = setTimeout(() => call.destroy(silent(url, answerMs)), answerMs);
    call.on("close", () => clearTimeout(timer));
    call.on("response", (response) => {
      clearTimeout(timer);
      // The signal also ends the body, however long that is.
      response.on("close", done);
      resolve(response);
    });
    call.on("error", (error) => {
      done();
      reject(asRollcallError(url, error));
    });
    call.end(body);
  });
}

/** The header that presents a token. */
export function bearer(token: string | undefined): Readonly<Record<string, string>> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

const JSON_BODY = { "content-type": "application/json" } as const;

/** The whole body; more than the limit, or for longer, is an error. */
export async function readAnswer(url: URL, response: IncomingMessage): Promise<string> {
  const timer = setTimeout(() => response.destroy(slow(url)), HTTP_CLIENT.bodyMs);
  const body = await wholeBody(response, HTTP_CLIENT.bodyBytes)
    .catch((error: unknown) => {
      throw asRollcallError(url, error);
    })
    .finally(() => clearTimeout(timer));
  if (body !== undefined) return body;
  const message = `${url.href} answers with more than ${HTTP_CLIENT.bodyBytes} bytes`;
  throw new RollcallError("TOO_LARGE", message);
}

/** The error that a daemon sent as `{error: {code, message}}`. */
async function refusal(url: URL, response: IncomingMessage): Promise<RollcallError> {
  const status = response.statusCode ?? 0;
  const body = await readAnswer(url, response);
  const { code, message } = decodeError(body);
  if (code && message !== undefined) return new RollcallError(code, message);
  const reason = `${url.href} answers with status ${status}, and not as rollcall does`;
  return new RollcallError(codeOfStatus(status), reason);
}

function asRollcallError(url: URL, error: unknown): RollcallError {
  if (error instanceof RollcallError) return error;
  const message = `no daemon answers at ${url.origin} (${failureReason(error)})`;
  return new RollcallError("UNAVAILABLE", message, { cause: error });
}

function silent(url: URL, answerMs: number): RollcallError {
  const message = `${url.origin} took the call but sent no answer for ${answerMs} ms`;
  return new RollcallError("UNAVAILABLE", message);
}

function slow(url: URL): RollcallError {
  const message = `${url.href} began to answer, and did not end within ${HTTP_CLIENT.bodyMs} ms`;
  return new RollcallError("UNAVAILABLE", message);
}

export function cancelled(): RollcallError {
  return new RollcallError("CANCELLED", "the request was cancelled");
}
