/** A result too large for one frame: written in pieces, read as they come, or whole at the end. */
import assert from "node:assert/strict";
import { ArcpClient, ArcpRuntime, pairMemoryTransports, staticTokens } from "rollcall/arcp";

const ROWS = 100_000;

await using runtime = new ArcpRuntime({
  runtime: { name: "result-chunk", version: "1.0.0" },
  bearer: staticTokens({ demo: "me@example.com" }),
});
runtime.registerAgent("exporter", async (_, job) => {
  const result = job.streamResult();
  for (let row = 0; row < ROWS; row += 1_000) {
    const rows = Array.from({ length: 1_000 }, (_row, at) => `${row + at};invoice ${row + at}\n`);
    await result.write(rows.join(""));
  }
  await result.end(`${ROWS} rows`);
});
const [theirs, ours] = pairMemoryTransports();
runtime.accept(ours);
await using client = await ArcpClient.connect(theirs, { token: "demo" });

const job = await client.submit({ agent: "exporter" });
let pieces = 0;
for await (const { kind } of job.events()) if (kind === "result_chunk") pieces += 1;
const { result, summary } = await job.done;
assert(typeof result === "string");
console.log(pieces, result.length, summary); // 101 2477780 '100000 rows'

assert.equal(result.split("\n").length, ROWS + 1);
assert(result.startsWith("0;invoice 0\n") && result.endsWith("99999;invoice 99999\n"));
assert.equal(pieces, 101); // the last one is empty, and says that it is the last
assert.equal(summary, "100000 rows");
