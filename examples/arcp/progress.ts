/** How far a job is: enough for a bar, an estimate, or a line in a table. */
import assert from "node:assert/strict";
import { ArcpClient, ArcpRuntime, pairMemoryTransports, staticTokens } from "rollcall/arcp";

await using runtime = new ArcpRuntime({
  runtime: { name: "progress", version: "1.0.0" },
  bearer: staticTokens({ demo: "me@example.com" }),
});
runtime.registerAgent("indexer", async (input, job) => {
  const files = input as readonly string[];
  for (const [done, message] of files.entries()) {
    await job.progress(done, { total: files.length, units: "files", message });
  }
  await job.progress(files.length, { total: files.length, units: "files" });
  return files.length;
});
const [theirs, ours] = pairMemoryTransports();
runtime.accept(ours);
await using client = await ArcpClient.connect(theirs, { token: "demo" });

const job = await client.submit({ agent: "indexer", input: ["a.md", "b.md", "c.md"] });
const bars: string[] = [];
for await (const { kind, body } of job.events()) {
  if (kind !== "progress") continue;
  const { current, total = 0, units = "" } = body;
  const bar = "#".repeat(current).padEnd(total, ".");
  bars.push(`[${bar}] ${current}/${total} ${units}`);
}
console.log(bars.join("\n"));

assert.deepEqual(bars, [
  "[...] 0/3 files",
  "[#..] 1/3 files",
  "[##.] 2/3 files",
  "[###] 3/3 files",
]);
