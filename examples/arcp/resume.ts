/** A client leaves in the middle of a job; another goes on with its session and misses nothing. */
import assert from "node:assert/strict";
import { ArcpClient, ArcpRuntime, pairMemoryTransports, staticTokens } from "rollcall/arcp";

await using runtime = new ArcpRuntime({
  runtime: { name: "resume", version: "1.0.0" },
  bearer: staticTokens({ demo: "me@example.com" }),
});
let leave = () => {};
const left = new Promise<void>((resolve) => (leave = resolve));
runtime.registerAgent("counter", async (_, job) => {
  await job.log("info", "one");
  await left;
  await job.log("info", "two"); // said to nobody, and kept
  return "three";
});
const connect = () => {
  const [theirs, ours] = pairMemoryTransports();
  runtime.accept(ours);
  return theirs;
};

const first = await ArcpClient.connect(connect(), { token: "demo" });
const { id } = await first.submit({ agent: "counter" });
for await (const { seq } of first.job(id).events()) {
  assert.equal(seq, 1);
  break;
}
const { resumption } = first; // plain JSON: may be kept on disk, or handed to another process
await first.close();
leave();

assert(resumption);
await using second = await ArcpClient.connect(connect(), { token: "demo", resume: resumption });
const job = second.job(id);
const missed: unknown[] = [];
for await (const { kind, seq, body } of job.events()) {
  if (kind === "log") missed.push({ seq, message: body.message });
}
console.log(missed, (await job.done).result); // [ { seq: 2, message: 'two' } ] three

assert.deepEqual(missed, [{ seq: 2, message: "two" }]);
assert.equal((await job.done).result, "three");
