/** A lease with an end: at that instant nothing is allowed any more, and the job ends with it. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { ArcpClient, ArcpRuntime, codeOf, pairMemoryTransports, staticTokens } from "rollcall/arcp";

await using runtime = new ArcpRuntime({
  runtime: { name: "lease-expires-at", version: "1.0.0" },
  bearer: staticTokens({ demo: "me@example.com" }),
});
let afterwards: string | undefined;
runtime.registerAgent("watcher", async (_, job) => {
  job.authorize("fs.read", "/logs/today"); // in time
  await once(job.signal, "abort");
  try {
    job.authorize("fs.read", "/logs/today");
  } catch (error) {
    afterwards = codeOf(error);
  }
});
const [theirs, ours] = pairMemoryTransports();
runtime.accept(ours);
await using client = await ArcpClient.connect(theirs, { token: "demo" });

const job = await client.submit({
  agent: "watcher",
  lease: { "fs.read": ["/logs/*"] },
  expiresAt: new Date(Date.now() + 1_000),
});
const ending = await job.done.catch(codeOf);
console.log(ending, afterwards); // LEASE_EXPIRED LEASE_EXPIRED

assert.equal(ending, "LEASE_EXPIRED");
assert.equal(afterwards, "LEASE_EXPIRED");
