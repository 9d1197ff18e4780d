/** What a job may do is its lease; what lies outside is refused, however it is spelled. */
import assert from "node:assert/strict";
import { ArcpClient, ArcpRuntime, codeOf, pairMemoryTransports, staticTokens } from "rollcall/arcp";

await using runtime = new ArcpRuntime({
  runtime: { name: "lease-violation", version: "1.0.0" },
  bearer: staticTokens({ demo: "me@example.com" }),
});
runtime.registerAgent("reader", async (_, job) => {
  const may = (path: string) => {
    try {
      job.authorize("fs.read", path);
      return "yes";
    } catch (error) {
      return codeOf(error);
    }
  };
  // A tool outside the lease is refused before it is called, and whoever follows sees it.
  await job.toolCall("shell.run", { command: "ls" }).catch(() => undefined);
  return ["/data/2026/may.csv", "/etc/passwd", "/data/../etc/passwd"].map(may);
});
const [theirs, ours] = pairMemoryTransports();
runtime.accept(ours);
await using client = await ArcpClient.connect(theirs, { token: "demo" });

const job = await client.submit({
  agent: "reader",
  lease: { "fs.read": ["/data/**"], "tool.call": ["search.*"] },
});
const refused: string[] = [];
for await (const { kind, body } of job.events()) {
  if (kind === "tool_result" && body.error) refused.push(body.error.code);
}
const { result } = await job.done;
console.log(result); // [ 'yes', 'PERMISSION_DENIED', 'PERMISSION_DENIED' ]

assert.deepEqual(result, ["yes", "PERMISSION_DENIED", "PERMISSION_DENIED"]);
assert.deepEqual(refused, ["PERMISSION_DENIED"]);
