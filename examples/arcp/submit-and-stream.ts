/** Connect, submit, read what the job says, take its result: over a WebSocket on this machine. */
import assert from "node:assert/strict";
// #region use
import { ArcpClient, ArcpRuntime, serveWebSocket, staticTokens } from "rollcall/arcp";

await using runtime = new ArcpRuntime({
  runtime: { name: "quickstart", version: "1.1.0" },
  bearer: staticTokens({ demo: "me@example.com" }),
});
runtime.registerAgent("sorter", async (input, job) => {
  const words = String(input).split(" ");
  await job.log("info", `${words.length} words`);
  await job.thought("the longest goes first");
  return words.toSorted((a, b) => b.length - a.length);
});
await using door = await serveWebSocket((transport) => runtime.accept(transport));

await using client = await ArcpClient.connect(door.url, { token: "demo" });
const job = await client.submit({ agent: "sorter", input: "one control plane for agents" });
const said: string[] = [];
for await (const { kind, body } of job.events()) {
  said.push(kind);
  console.log(kind, body); // log { level: 'info', message: '5 words' } and so on
}
const { status, result } = await job.done;
console.log(status, result); // success [ 'control', 'agents', 'plane', 'one', 'for' ]
// #endregion

assert.deepEqual(said, ["log", "thought"]);
assert.deepEqual(result, ["control", "agents", "plane", "one", "for"]);
