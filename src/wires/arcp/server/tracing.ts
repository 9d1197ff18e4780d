/**
 * Jobs as spans of OpenTelemetry. A job's span belongs to the submitter's trace: to the context
 * that came with the submit, to the span of its parent job, or at least to its trace id. While the
 * agent runs, its span is the active one, so what the agent calls hangs below it.
 *
 *   new ArcpRuntime(withTracing({ runtime, bearer }))
 */
import {
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Span,
  type SpanContext,
  type Tracer,
} from "@opentelemetry/api";
import type { JobObserver } from "../../../jobs/observer.ts";
import type { Run } from "../../../jobs/run.ts";
import type { ArcpOptions } from "./options.ts";

export function withTracing<Options extends ArcpOptions>(
  options: Options,
  tracer: Tracer = trace.getTracer("rollcall/arcp"),
): Options {
  const spans = new WeakMap<Run, Span>();
  const observer: JobObserver = {
    onEvent: (run, { kind, body }) => {
      if (kind === "tool_call") spans.get(run)?.addEvent("tool_call", { "arcp.tool": body.tool });
    },
    onEnded: (run, outcome) => {
      const span = spans.get(run);
      span?.setAttribute("arcp.job.status", outcome.status);
      if (outcome.status === "error") {
        span?.setAttribute("arcp.error.code", outcome.code);
        span?.setStatus({ code: SpanStatusCode.ERROR, message: outcome.message });
      }
      span?.end();
    },
  };
  const around = (run: Run, start: () => unknown) => {
    const parent = parentOf(run, spans);
    const how = { kind: SpanKind.CONSUMER, attributes: attributesOf(run) };
    const [name = ""] = run.job.agent.split("@", 1);
    const span = tracer.startSpan(`arcp.job ${name}`, how, parent);
    spans.set(run, span);
    const begin = () => (options.around ? options.around(run, start) : start());
    return context.with(trace.setSpan(parent, span), begin);
  };
  return { ...options, around, observers: [...(options.observers ?? []), observer] };
}

function attributesOf({ job, parent }: Run) {
  const { lease = {}, leaseExpiresAtMs, session = "", traceId = "" } = job;
  const budget = lease["cost.budget"];
  return {
    "arcp.job_id": job.id,
    "arcp.agent": job.agent,
    "arcp.session_id": session,
    "arcp.principal": job.principal,
    "arcp.trace_id": traceId,
    ...(parent && { "arcp.parent_job_id": parent.id }),
    ...(budget && { "arcp.budget": [...budget] }),
    ...(leaseExpiresAtMs !== undefined && {
      "arcp.lease.expires_at": new Date(leaseExpiresAtMs).toISOString(),
    }),
  };
}

function parentOf(run: Run, spans: WeakMap<Run, Span>): Context {
  const above = run.parent && spans.get(run.parent);
  if (above) return trace.setSpan(ROOT_CONTEXT, above);
  return trace.setSpanContext(ROOT_CONTEXT, remoteOf(run));
}

function remoteOf({ id, job, traceContext: sent }: Run): SpanContext {
  const { traceId = "" } = job;
  if (!sent) {
    // No span that exists, but the right trace: the last digits of the job's id, as hex.
    const spanId = Buffer.from(id.slice(-8)).toString("hex");
    return { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
  }
  const [, sentTraceId = traceId, spanId = "", flags = "01"] = sent.traceparent.split("-");
  return {
    traceId: sentTraceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
  };
}
