import {
  SpanStatusCode,
  trace,
  type Context,
  type Span,
  type SpanOptions,
} from "@opentelemetry/api";
import { expect, test } from "vitest";
import { quiet } from "../../../../test/support/engine/fixture.ts";
import { ArcpRuntime } from "./runtime.ts";
import { TestPeer } from "../../../../test/support/arcp/fixture.ts";
import { withTracing } from "./tracing.ts";
import { staticTokens } from "./verifiers.ts";

interface Told {
  readonly name: string;
  readonly parent: string | undefined;
  readonly attributes: Record<string, unknown>;
  readonly events: string[];
  status: SpanStatusCode;
  isEnded: boolean;
}

/** A tracer that remembers, with the one method that is used. */
function witness() {
  const told: Told[] = [];
  const startSpan = (name: string, options: SpanOptions, parent: Context): Span => {
    const above = trace.getSpanContext(parent);
    const span: Told = {
      name,
      parent: above && `${above.traceId}/${above.spanId}`,
      attributes: { ...options.attributes },
      events: [],
      status: SpanStatusCode.UNSET,
      isEnded: false,
    };
    told.push(span);
    const spanId = String(told.length).padStart(16, "0");
    return {
      spanContext: () => ({ traceId: above?.traceId ?? "", spanId, traceFlags: 1 }),
      setAttribute: (key: string, value: unknown) => {
        span.attributes[key] = value;
      },
      addEvent: (event: string) => span.events.push(event),
      setStatus: ({ code }: { code: SpanStatusCode }) => (span.status = code),
      end: () => (span.isEnded = true),
    } as unknown as Span;
  };
  return { told, tracer: { startSpan } as never };
}

test("a job is a span below the context of its submitter, and its children below it", async () => {
  const { told, tracer } = witness();
  const runtime = new ArcpRuntime(
    withTracing(
      {
        runtime: { name: "traced", version: "1" },
        bearer: staticTokens({ "alice-token": "alice" }),
      },
      tracer,
    ),
  );
  runtime.registerAgent("child", () => Promise.reject(new Error("no")));
  runtime.registerAgent("parent", async (_, job) => {
    await job.toolCall("search");
    const child = await job.delegate("child");
    return (await child.done).status;
  });
  await runtime.start();
  const peer = new TestPeer();
  runtime.accept(peer.wire);
  await peer.hello();
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
  const { job_id } = await peer.submit(
    "parent",
    { lease_request: { "tool.call": ["*"], "agent.delegate": ["*"] } },
    {
      trace_id: traceId,
      extensions: { "x-vendor.opentelemetry.tracecontext": { traceparent } },
    },
  );
  await quiet();
  expect(told).toMatchObject([
    {
      name: "arcp.job parent",
      parent: `${traceId}/b7ad6b7169203331`,
      attributes: {
        "arcp.job_id": job_id,
        "arcp.principal": "alice",
        "arcp.job.status": "success",
      },
      events: ["tool_call"],
      isEnded: true,
    },
    {
      name: "arcp.job child",
      parent: `${traceId}/0000000000000001`,
      attributes: { "arcp.parent_job_id": job_id, "arcp.error.code": "INTERNAL" },
      status: SpanStatusCode.ERROR,
      isEnded: true,
    },
  ]);
  await peer.submit("parent", {}, { trace_id: "f".repeat(32) });
  expect(told[2]?.parent).toMatch(/^f{32}\/[0-9a-f]{16}$/);
  await runtime.close();
});
