/**
 * The two heartbeats: `POST /registry/heartbeat` of the first generation, and
 * `POST /.well-known/agents/heartbeat` of the second, which says when to come back. Most say what is
 * known already, tens of thousands a second, so they are answered before any router, and before
 * anybody reads what they say.
 *
 * What is wrong is said as the peer says it: 422, and a list of what and where.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { HEARTBEAT } from "../../core/cards/limits.ts";
import type { CardProblem } from "../../core/cards/problems.ts";
import { RollcallError } from "../../core/errors.ts";
import type { DirectoryService, HeartbeatAnswer } from "../../directory/directory.ts";
import { readBody } from "../body.ts";

/** Where the token is, in an answer and in what comes later. */
export const TOKEN_HEADER = "rollcall-registration-token";

export interface HeartbeatsOptions {
  readonly directory: Pick<DirectoryService, "again" | "hear">;
  /** What agents are asked to wait between two, in seconds. */
  readonly intervalS: number;
}

type Handler = (
  request: IncomingMessage,
  response: ServerResponse,
  principal: { readonly name: string },
) => Promise<void>;

interface Generation {
  readonly status: number;
  readonly headers: readonly string[];
}

export function heartbeatHandlers(options: HeartbeatsOptions): Readonly<Record<string, Handler>> {
  const first: Generation = { status: 200, headers: [] };
  const second: Generation = { status: 202, headers: ["Retry-After", String(options.intervalS)] };
  return {
    "/registry/heartbeat": handler(options, first),
    "/.well-known/agents/heartbeat": handler(options, second),
  };
}

function handler({ directory }: HeartbeatsOptions, { status, headers }: Generation): Handler {
  const json = ["Content-Type", "application/json", ...headers];
  return async (request, response, principal) => {
    if (request.method !== "POST") {
      throw new RollcallError("NOT_FOUND", `no ${request.method ?? ""} ${request.url ?? ""}`);
    }
    const body = await readBody(request, HEARTBEAT.bytes);
    const given = request.headers[TOKEN_HEADER];
    const token = typeof given === "string" && given !== "" ? given : undefined;
    if (directory.again(body, token)) {
      response.writeHead(status, [...json, "Content-Length", VERIFIED_LENGTH]).end(VERIFIED);
      return;
    }
    const answer = await heard(directory, body, { source: principal.name, token });
    if (!answer.ok) return refuse(response, answer.problems);
    const text = JSON.stringify({ status: "ok", verified: answer.verified });
    const issued = answer.token === undefined ? [] : [TOKEN_HEADER, answer.token];
    response.writeHead(status, [...json, ...issued]).end(text);
  };
}

/** Text, not bytes: then Node sends it with its head in one go. */
const VERIFIED = '{"status":"ok","verified":true}';
const VERIFIED_LENGTH = String(VERIFIED.length);

/** A refusal of what the caller said is a problem like those of the card. */
async function heard(
  directory: HeartbeatsOptions["directory"],
  body: Buffer,
  sender: Parameters<DirectoryService["hear"]>[1],
): Promise<HeartbeatAnswer> {
  try {
    return await directory.hear(body, sender);
  } catch (error) {
    if (!(error instanceof RollcallError) || error.code !== "INVALID_ARGUMENT") throw error;
    const msg = `Value error, ${error.message}`;
    return { ok: false, problems: [{ type: "value_error", loc: ["body"], msg, input: null }] };
  }
}

function refuse(response: ServerResponse, detail: readonly CardProblem[]): void {
  response.writeHead(422, { "Content-Type": "application/json" }).end(JSON.stringify({ detail }));
}
