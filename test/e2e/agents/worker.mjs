/** A runtime of its own on the standard streams, as the daemon starts it. */
import { ArcpRuntime, processTransport, staticTokens } from "../../../dist/lib/arcp.js";

const { ARCP_TOKEN = "", ROLLCALL_AGENT_ID, ROLLCALL_SECRET, GREETING } = process.env;

const runtime = new ArcpRuntime({
  runtime: { name: "worker", version: "1.0.0" },
  bearer: staticTokens({ [ARCP_TOKEN]: "daemon" }),
});
runtime.registerAgent("worker", async (input, job) => {
  if (input === "die") process.exit(3);
  if (input === "fail") throw new Error("no disk");
  if (input === "hang") {
    await job.thought("for ever");
    await new Promise((resolve) => job.signal.addEventListener("abort", resolve));
    return "stopped";
  }
  if (input === "parts") {
    const writer = job.streamResult();
    for (let i = 0; i < 5; i += 1) await writer.write("x".repeat(10_000));
    await writer.end();
    return undefined;
  }
  if (input === "large") return { text: "x".repeat(200_000) };
  await job.metric("cost.inference", 0.25, { unit: "USD" });
  return { agentId: ROLLCALL_AGENT_ID, secret: ROLLCALL_SECRET ?? null, greeting: GREETING };
});
process.stderr.write("worker is up\n");
runtime.accept(processTransport());
