/** The same key is the same job, however often it is sent: a retry cannot do the work twice. */
import assert from "node:assert/strict";
import { ArcpClient, ArcpRuntime, codeOf, pairMemoryTransports, staticTokens } from "rollcall/arcp";

await using runtime = new ArcpRuntime({
  runtime: { name: "idempotent-retry", version: "1.0.0" },
  bearer: staticTokens({ demo: "me@example.com" }),
});
let payments = 0;
runtime.registerAgent("pay", (amount) => ({ paid: amount, receipt: (payments += 1) }));
const [theirs, ours] = pairMemoryTransports();
runtime.accept(ours);
await using client = await ArcpClient.connect(theirs, { token: "demo" });

const order = { agent: "pay", input: 42, idempotencyKey: "invoice-2026-11" };
const job = await client.submit(order);
await job.done;
const again = await client.submit(order);
console.log(again.id === job.id, (await again.done).result); // true { paid: 42, receipt: 1 }

// The same key for something else is a mistake, and is told as one.
const other = await client.submit({ ...order, input: 43 }).catch(codeOf);
console.log(other); // ALREADY_EXISTS

assert.equal(again.id, job.id);
assert.deepEqual((await again.done).result, { paid: 42, receipt: 1 });
assert.equal(other, "ALREADY_EXISTS");
assert.equal(payments, 1);
