/** A budget in exact decimals: costs that a job reports are taken from it, and at zero it stops. */
import assert from "node:assert/strict";
import { ArcpClient, ArcpRuntime, codeOf, pairMemoryTransports, staticTokens } from "rollcall/arcp";

await using runtime = new ArcpRuntime({
  runtime: { name: "cost-budget", version: "1.0.0" },
  bearer: staticTokens({ demo: "me@example.com" }),
});
runtime.registerAgent("researcher", async (_, job) => {
  for (;;) {
    job.authorize("tool.call", "search.web"); // BUDGET_EXHAUSTED when nothing is left
    await job.metric("cost.search", 0.1, { unit: "USD" });
  }
});
const [theirs, ours] = pairMemoryTransports();
runtime.accept(ours);
await using client = await ArcpClient.connect(theirs, { token: "demo" });

const job = await client.submit({
  agent: "researcher",
  lease: { "tool.call": ["search.*"], "cost.budget": ["USD:0.30"] },
});
const left: number[] = [];
for await (const { kind, body } of job.events()) {
  if (kind === "metric" && body.name === "cost.budget.remaining") left.push(body.value);
}
const ending = await job.done.catch(codeOf);
console.log(left, ending); // [ 0.2, 0.1, 0 ] BUDGET_EXHAUSTED

assert.deepEqual(left, [0.2, 0.1, 0]); // where floats would have left 5.5e-17 to spend
assert.equal(ending, "BUDGET_EXHAUSTED");
