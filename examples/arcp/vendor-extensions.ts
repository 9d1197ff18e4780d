/** Events of your own kind and lease namespaces of your own pass through as they are. */
import assert from "node:assert/strict";
import { ArcpClient, ArcpRuntime, codeOf, pairMemoryTransports, staticTokens } from "rollcall/arcp";

await using runtime = new ArcpRuntime({
  runtime: { name: "vendor-extensions", version: "1.0.0" },
  bearer: staticTokens({ demo: "me@example.com" }),
});
runtime.registerAgent("renderer", async (_, job) => {
  job.authorize("x-vendor.acme.gpu", "rack-7/a100");
  await job.emit("x-vendor.acme.gpu", { device: "a100", utilisation: 0.8 });
  return job.emit("acme.gpu", {}).catch(codeOf); // other kinds belong to the protocol
});
const [theirs, ours] = pairMemoryTransports();
runtime.accept(ours);
await using client = await ArcpClient.connect(theirs, { token: "demo" });

const job = await client.submit({
  agent: "renderer",
  lease: { "x-vendor.acme.gpu": ["rack-7/*"] },
});
const events: unknown[] = [];
for await (const { kind, body } of job.events()) events.push({ kind, body });
console.log(events); // [ { kind: 'x-vendor.acme.gpu', body: { device: 'a100', … } } ]

assert.deepEqual(events, [
  { kind: "x-vendor.acme.gpu", body: { device: "a100", utilisation: 0.8 } },
]);
assert.equal((await job.done).result, "INVALID_ARGUMENT");
