/**
 * An event as the payload of a frame: written once, for all who hear of it. Errors of tools carry a
 * code of the protocol's table; a code that is an agent's own goes along in the details.
 */
import { isErrorCode, RollcallError } from "../../../core/errors.ts";
import type { JobEvent, ToolError } from "../../../core/jobs/events.ts";
import type { SaidEvent } from "../../../jobs/follower.ts";
import { eventPayload } from "./encode.ts";
import { arcpCodeOf, isArcpCode, isRetryable } from "./errors.ts";
import { FRAME } from "./limits.ts";

/** What surrounds a payload. */
const HEAD_BYTES = 1024;

export function payloadOf(said: SaidEvent, time: (atMs: number) => string): string {
  said.text ??= checked(eventPayload(said.event.kind, time(said.atMs), bodyOf(said.event)));
  return said.text;
}

/** A frame nobody can be sent would end every connection of its session, again and again. */
function checked(payload: string): string {
  const most = FRAME.outboundBytes - HEAD_BYTES;
  if (payload.length * 3 <= most || Buffer.byteLength(payload) <= most) return payload;
  throw new RollcallError("TOO_LARGE", `an event has at most ${most} bytes`);
}

function bodyOf(event: JobEvent): unknown {
  if (event.kind !== "tool_result" || !event.body.error) return event.body;
  return { ...event.body, error: toldOf(event.body.error) };
}

function toldOf(error: ToolError): ToolError {
  const { code } = error;
  if (isArcpCode(code)) return { ...error, retryable: isRetryable(code) };
  const told = isErrorCode(code) ? arcpCodeOf(code) : "INTERNAL_ERROR";
  const details = { ...error.details, code };
  return { ...error, code: told, retryable: isRetryable(told), details };
}
