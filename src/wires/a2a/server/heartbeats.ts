/**
 * The two heartbeats: `POST /registry/heartbeat` of the first generation, and
 * `POST /.well-known/agents/heartbeat` of the second, which says when to come back. Most say what
 * is known already, thousands of them a second, so they are answered before any router, and before
 * anybody reads what they say.
 *
 * Errors have the form of the peer: 422, and a list of problems with their places.
 */
import type { IncomingMessage } from "node:http";
import { HEARTBEAT } from "../../../core/card-limits.ts";
import type { CardProblem } from "../../../directory/cards/problems.ts";
import { RollcallError } from "../../../core/errors.ts";
import { onWire, type By } from "../../../core/by.ts";
import type { DirectoryService } from "../../../directory/directory.ts";
import type { HeartbeatAnswer, Sender } from "../../../directory/heartbeat.ts";
import { ACCESS, type Permit } from "../../../operations/access.ts";
import { TABLE } from "../../../operations/table.ts";
import type { GuardedHandler, WholeAnswer } from "../../route.ts";

/** Where the token is, in an answer and in what comes later. */
const TOKEN_HEADER = "rollcall-registration-token";

export interface HeartbeatsOptions {
  readonly directory: Pick<DirectoryService, "again" | "hear">;
  readonly permit: Permit;
}

type HeartbeatHandler = (
  request: IncomingMessage,
  body: Buffer,
  by: By,
) => WholeAnswer | Promise<WholeAnswer>;

/** A response to a heartbeat that was taken, in the form of one generation. */
type Form = (verified: boolean, retryAfterS: number) => WholeAnswer;

const JSON_TYPE = ["Content-Type", "application/json"] as const;
const BODIES = {
  true: '{"status":"ok","verified":true}',
  false: '{"status":"ok","verified":false}',
} as const;

const FORMS: Readonly<Record<string, Form>> = {
  "/registry/heartbeat": (verified) => ({
    status: 200,
    headers: JSON_TYPE,
    body: BODIES[`${verified}`],
  }),
  "/.well-known/agents/heartbeat": (verified, retryAfterS) => ({
    status: 202,
    headers: [...JSON_TYPE, "Retry-After", String(retryAfterS)],
    body: BODIES[`${verified}`],
  }),
};

export function heartbeatHandlers(
  options: HeartbeatsOptions,
): Readonly<Record<string, GuardedHandler<HeartbeatHandler>>> {
  const access = ACCESS.heartbeat;
  return Object.fromEntries(
    Object.entries(FORMS).map(([path, form]) => [path, { access, handle: handler(options, form) }]),
  );
}

function handler({ directory, permit }: HeartbeatsOptions, form: Form): HeartbeatHandler {
  /** By the seconds of Retry-After: the door sends what it has sent before faster. */
  const usual = new Map<number, WholeAnswer>();
  return (request, body, by) => {
    const { method = "", url = "" } = request;
    if (method !== "POST") throw new RollcallError("NOT_FOUND", `no ${method} ${url}`);
    const given = request.headers[TOKEN_HEADER];
    const token = typeof given === "string" && given !== "" ? given : undefined;
    // The door does not know which agent it is about: that is in the body.
    const check = (agent: string) => permit(by, TABLE.directory.add.access, { url: agent });
    const retryAfterS = directory.again(body, { token, check });
    if (retryAfterS === undefined) {
      return hear(directory, form, { body, sender: { by: onWire(by, "a2a"), token, check } });
    }
    const known = usual.get(retryAfterS) ?? form(true, retryAfterS);
    usual.set(retryAfterS, known);
    return known;
  };
}

async function hear(
  directory: HeartbeatsOptions["directory"],
  form: Form,
  { body, sender }: { readonly body: Buffer; readonly sender: Sender },
): Promise<WholeAnswer> {
  if (body.length > HEARTBEAT.bytes) {
    throw new RollcallError("TOO_LARGE", `the body has more than ${HEARTBEAT.bytes} bytes`);
  }
  const answer = await heard(directory, body, sender);
  if (!answer.ok) return refusal(answer.problems);
  const response = form(answer.verified, answer.retryAfterS);
  if (answer.token === undefined) return response;
  return { ...response, headers: [...response.headers, TOKEN_HEADER, answer.token] };
}

/** A refusal of what the caller said is a problem like those of the card. */
async function heard(
  directory: HeartbeatsOptions["directory"],
  body: Buffer,
  sender: Sender,
): Promise<HeartbeatAnswer> {
  try {
    return await directory.hear(body, sender);
  } catch (error) {
    if (!(error instanceof RollcallError) || error.code !== "INVALID_ARGUMENT") throw error;
    const msg = `Value error, ${error.message}`;
    return { ok: false, problems: [{ type: "value_error", loc: ["body"], msg, input: null }] };
  }
}

function refusal(detail: readonly CardProblem[]): WholeAnswer {
  return { status: 422, headers: JSON_TYPE, body: JSON.stringify({ detail }) };
}
