/**
 * Jobs as spans of OpenTelemetry. A job's span belongs to whoever submitted it: to the context it
 * sent along, to the span of its parent job, or at least to its trace id. While the agent runs, its
 * span is the active one, so what the agent calls hangs below it.
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
import type { Job } from "../../../jobs/job.ts";
import type { JobObserver } from "../../../jobs/observer.ts";
import type { ArcpRuntimeOptions } from "./runtime-options.ts";

export function withTracing(
  options: ArcpRuntimeOptions,
  tracer: Tracer = trace.getTracer("rollcall/arcp"),
): ArcpRuntimeOptions {
  const spans = new WeakMap<Job, Span>();
  const observer: JobObserver = {
    onEvent: (job, { kind, body }) => {
      if (kind === "tool_call") spans.get(job)?.addEvent("tool_call", { "arcp.tool": body.tool });
    },
    onEnded: (job, outcome) => {
      const span = spans.get(job);
      span?.setAttribute("arcp.job.status", outcome.status);
      if (outcome.status === "error") {
        span?.setAttribute("arcp.error.code", outcome.code);
        span?.setStatus({ code: SpanStatusCode.ERROR, message: outcome.message });
      }
      span?.end();
    },
  };
  const around = (job: Job, run: () => unknown) => {
    const parent = parentOf(job, spans);
    const attributes = attributesOf(job);
    const how = { kind: SpanKind.CONSUMER, attributes };
    const span = tracer.startSpan(`arcp.job ${job.agentName}`, how, parent);
    spans.set(job, span);
    const start = () => (options.around ? options.around(job, run) : run());
    return context.with(trace.setSpan(parent, span), start);
  };
  return { ...options, around, observers: [...(options.observers ?? []), observer] };
}

function attributesOf({ id, agent, owner, grant, parent, traceId }: Job) {
  const { expiresAtMs } = grant;
  const budget = grant.shape["cost.budget"];
  return {
    "arcp.job_id": id,
    "arcp.agent": agent,
    "arcp.session_id": owner.id,
    "arcp.principal": owner.principal,
    "arcp.trace_id": traceId,
    ...(parent && { "arcp.parent_job_id": parent.id }),
    ...(budget && { "arcp.budget": [...budget] }),
    ...(expiresAtMs !== undefined && {
      "arcp.lease.expires_at": new Date(expiresAtMs).toISOString(),
    }),
  };
}

function parentOf(job: Job, spans: WeakMap<Job, Span>): Context {
  const above = job.parent && spans.get(job.parent);
  if (above) return trace.setSpan(ROOT_CONTEXT, above);
  return trace.setSpanContext(ROOT_CONTEXT, remoteOf(job));
}

function remoteOf({ traceId, id, running }: Job): SpanContext {
  const sent = running?.traceContext;
  if (!sent) {
    // Nobody's span, but the right trace: the last digits of the job's id, as hex.
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
