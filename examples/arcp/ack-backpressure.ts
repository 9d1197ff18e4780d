/** A reader slower than its job: it is told that it lags, memory stays bounded, nothing is lost. */
import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { ArcpClient, ArcpRuntime, pairMemoryTransports, staticTokens } from "rollcall/arcp";

const LINES = 6_000;

await using runtime = new ArcpRuntime({
  runtime: { name: "ack-backpressure", version: "1.0.0" },
  bearer: staticTokens({ demo: "me@example.com" }),
});
runtime.registerAgent("chatty", async (_, job) => {
  // Awaiting is all it takes to be slowed down with the disk, if there is one.
  for (let line = 0; line < LINES; line += 1) await job.log("debug", `line ${line}`);
});
const [theirs, ours] = pairMemoryTransports();
runtime.accept(ours);

// Events are acknowledged as they are read; what is not, the runtime keeps.
await using client = await ArcpClient.connect(theirs, { token: "demo" });
const job = await client.submit({ agent: "chatty" });
const lines: string[] = [];
let lags = 0;
for await (const { kind, body } of job.events()) {
  if (kind === "log") lines.push(body.message);
  if (kind === "status" && body.phase === "back_pressure") lags += 1;
  if (lines.length % 10 === 0) await setImmediate(); // slow: the job is long done
}
console.log(lines.length, lags > 0); // 6000 true

assert.deepEqual(
  lines,
  Array.from({ length: LINES }, (_, line) => `line ${line}`),
);
assert(lags > 0);
