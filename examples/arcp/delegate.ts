/** A job that hands parts of its work, and of what it may do and spend, to another agent. */
import assert from "node:assert/strict";
import { ArcpClient, ArcpRuntime, codeOf, pairMemoryTransports, staticTokens } from "rollcall/arcp";

await using runtime = new ArcpRuntime({
  runtime: { name: "delegate", version: "1.0.0" },
  bearer: staticTokens({ demo: "me@example.com" }),
});
runtime.registerAgent("linter", async (path, job) => {
  job.authorize("fs.read", String(path));
  await job.metric("cost.inference", 0.25, { unit: "USD" });
  return "no complaints";
});
runtime.registerAgent("release", async (_, job) => {
  const lease = { "fs.read": ["/repo/src/**"], "cost.budget": ["USD:0.50"] };
  const child = await job.delegate("linter", { input: "/repo/src/main.ts", lease });
  const outcome = await child.done; // it never rejects: the parent decides what a failure means

  // More than its own lease it cannot give away.
  const greedy = { lease: { "fs.read": ["/**"] } };
  const refusal = await job.delegate("linter", greedy).catch(codeOf);
  return { linter: outcome.status, left: job.budget["USD"], refusal };
});

const [theirs, ours] = pairMemoryTransports();
runtime.accept(ours);
await using client = await ArcpClient.connect(theirs, { token: "demo" });
const job = await client.submit({
  agent: "release",
  lease: {
    "agent.delegate": ["linter"],
    "fs.read": ["/repo/**"],
    "cost.budget": ["USD:2"],
  },
});
const { result } = await job.done;
console.log(result); // { linter: 'success', left: '1.75', refusal: 'LEASE_SUBSET_VIOLATION' }

assert.deepEqual(result, { linter: "success", left: "1.75", refusal: "LEASE_SUBSET_VIOLATION" });
