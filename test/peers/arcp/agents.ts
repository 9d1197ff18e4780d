/** The agents of agents.py, in our runtime. */
import { pause } from "../../../src/machine/waiting.ts";
import { systemClock } from "../../../src/machine/clock.ts";
import type { JobContext } from "../../../src/jobs/context.ts";
import { ArcpRuntime } from "../../../src/wires/arcp/server/runtime.ts";
import type { ArcpRuntimeOptions } from "../../../src/wires/arcp/server/runtime.ts";
import { staticTokens } from "../../../src/wires/arcp/server/verifiers.ts";

export function ourRuntime(options: Partial<ArcpRuntimeOptions> = {}): ArcpRuntime {
  const runtime = new ArcpRuntime({
    runtime: { name: "our-runtime", version: "1.1.0" },
    bearer: staticTokens({ tok: "me@example.com", other: "you@example.com" }),
    ...options,
  });
  runtime
    .registerAgent("echo", async (input, job) => {
      await job.log("info", "echo started");
      return { echoed: input };
    })
    .registerAgent("kinds", kinds)
    .registerAgent("spend", async (_, job) => {
      for (let i = 0; i < 20; i += 1) {
        await job.metric("cost.inference", 0.4, { unit: "USD" });
        job.authorize("tool.call", "search");
      }
    })
    .registerAgent("chunks", async (_, job) => {
      const result = job.streamResult();
      await result.write("grüße ");
      await result.write(new Uint8Array([0, 1]));
    })
    .registerAgent("large", () => "x".repeat(2_200_000))
    .registerAgent("fail", () => {
      throw new Error("it broke");
    })
    .registerAgent("chatty", async (input, job) => {
      const { n } = input as { readonly n: number };
      for (let i = 0; i < n; i += 1) await job.log("info", `line ${i}`);
    })
    .registerAgent("slow", slow)
    .registerAgent("one-at-a-time", slow)
    .registerAgent("refactor", () => "v1", { version: "1.0.0" })
    .registerAgent("refactor", () => "v2", { version: "2.0.0", isDefault: true });
  return runtime;
}

async function kinds(_: unknown, job: JobContext): Promise<void> {
  await job.log("debug", "hello", { k: 1 });
  await job.thought("hmm");
  await job.status("phase1", "msg");
  await job.metric("tokens.in", 10, { unit: "tokens" });
  await job.metric("cost.inference", 0.234, { unit: "USD" });
  const call = await job.toolCall("search", { q: "x" });
  await job.toolResult(call, [1, 2]);
  await job.progress(1, { total: 3, units: "files", message: "one" });
  await job.artifactRef("arcp://a/1", "text/plain");
  await job.emit("x-vendor.acme.thing", { i: 1 });
}

async function slow(input: unknown, job: JobContext): Promise<string> {
  const { n = 20, d = 0.05 } = (input ?? {}) as { readonly n?: number; readonly d?: number };
  for (let i = 0; i < n; i += 1) {
    await job.log("info", `tick-${i}`);
    await pause(systemClock, d * 1000, job.signal);
  }
  return "finished";
}
