/** Jobs as spans of OpenTelemetry: below the span of who submitted them, their children below. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { trace, TraceFlags, type Span, type Tracer } from "@opentelemetry/api";
import {
  ArcpClient,
  ArcpRuntime,
  pairMemoryTransports,
  staticTokens,
  withTracing,
} from "rollcall/arcp";

// Here an SDK would be registered, and withTracing would find it. This one only remembers.
const spans: { name: string; id: string; parent: string | undefined; job: unknown }[] = [];
const tracer = {
  startSpan(name, options, context): Span {
    const above = context && trace.getSpanContext(context);
    const traceId = above?.traceId ?? randomBytes(16).toString("hex");
    const spanId = randomBytes(8).toString("hex");
    const job = options?.attributes?.["arcp.job_id"];
    spans.push({ name, id: spanId, parent: above?.spanId, job });
    return trace.wrapSpanContext({ traceId, spanId, traceFlags: TraceFlags.SAMPLED });
  },
} as Tracer;

const options = {
  runtime: { name: "host-tracing", version: "1.0.0" },
  bearer: staticTokens({ demo: "me@example.com" }),
};
await using runtime = new ArcpRuntime(withTracing(options, tracer));
runtime.registerAgent("editor", async (_, job) => {
  const child = await job.delegate("proof-reader");
  return (await child.done).status;
});
runtime.registerAgent("proof-reader", () => "no typos");
const [theirs, ours] = pairMemoryTransports();
runtime.accept(ours);
await using client = await ArcpClient.connect(theirs, { token: "demo" });

// The span of the caller, as any propagator writes it.
const [traceId, spanId] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];
const job = await client.submit({
  agent: "editor",
  lease: { "agent.delegate": ["proof-reader"] },
  traceId,
  traceContext: { traceparent: `00-${traceId}-${spanId}-01` },
});
await job.done;
const [editor, proofReader] = spans;
console.log(editor?.name, editor?.parent, proofReader?.name); // arcp.job editor b7ad6b… arcp.job …

assert.equal(spans.length, 2);
assert.equal(editor?.parent, spanId);
assert.equal(editor.job, job.id);
assert.equal(proofReader?.parent, editor.id);
