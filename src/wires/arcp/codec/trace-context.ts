/**
 * The W3C trace context, as clients send it along with a submit: the header's two fields, under
 * the one vendor key that all SDKs agree on. What is not well-formed is as if it were not there.
 */
import type { TraceContext } from "../../../jobs/run.ts";

export const TRACE_CONTEXT = "x-vendor.opentelemetry.tracecontext";

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
/** The specification asks every receiver to keep as much. */
const TRACESTATE_LENGTH = 512;

export function traceContextOf(value: unknown): TraceContext | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { traceparent, tracestate } = value as Readonly<Record<string, unknown>>;
  if (typeof traceparent !== "string" || !TRACEPARENT.test(traceparent)) return undefined;
  const isKept = typeof tracestate === "string" && tracestate.length <= TRACESTATE_LENGTH;
  return { traceparent, ...(isKept && { tracestate }) };
}
