/** A job is asked to stop: its agent cleans up first, and then the job ends as cancelled. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { ArcpClient, ArcpRuntime, pairMemoryTransports, staticTokens } from "rollcall/arcp";

await using runtime = new ArcpRuntime({
  runtime: { name: "cancel", version: "1.0.0" },
  bearer: staticTokens({ demo: "me@example.com" }),
  limits: { cancelGraceMs: 5_000 }, // an agent that does not listen is ended after this
});
runtime.registerAgent("trainer", async (_, job) => {
  await job.status("training");
  await once(job.signal, "abort"); // or hand `job.signal` to fetch, spawn, a database…
  await job.log("info", "checkpoint written");
  throw job.signal.reason;
});
const [theirs, ours] = pairMemoryTransports();
runtime.accept(ours);
await using client = await ArcpClient.connect(theirs, { token: "demo" });

const job = await client.submit({ agent: "trainer" });
const said: string[] = [];
for await (const { kind, body } of job.events()) {
  if (kind === "status") await job.cancel("changed my mind");
  if (kind === "log") said.push(body.message);
}
const { status } = await job.done;
console.log(said, status); // [ 'checkpoint written' ] cancelled

assert.deepEqual(said, ["checkpoint written"]);
assert.equal(status, "cancelled");
