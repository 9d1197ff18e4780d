/** Your jobs, the oldest first, page by page as you read on; those of others are not shown. */
import assert from "node:assert/strict";
import { ArcpClient, ArcpRuntime, pairMemoryTransports, staticTokens } from "rollcall/arcp";

await using runtime = new ArcpRuntime({
  runtime: { name: "list-jobs", version: "1.0.0" },
  bearer: staticTokens({ ada: "ada@example.com", bob: "bob@example.com" }),
});
runtime.registerAgent("echo", (input) => input);
runtime.registerAgent("broken", () => Promise.reject(new Error("no such table")));
const connect = (token: string) => {
  const [theirs, ours] = pairMemoryTransports();
  runtime.accept(ours);
  return ArcpClient.connect(theirs, { token });
};

await using ada = await connect("ada");
for (const agent of ["echo", "echo", "broken", "echo"]) {
  await (
    await ada.submit({ agent })
  ).ended;
}
const failed: string[] = [];
for await (const job of ada.listJobs({ status: ["error"] })) failed.push(job.agent);
const all: string[] = [];
for await (const { agent, status } of ada.listJobs({ pageSize: 3 })) all.push(`${agent} ${status}`);
console.log(failed, all); // [ 'broken' ] [ 'echo success', 'echo success', 'broken error', … ]

await using bob = await connect("bob");
const foreign: string[] = [];
for await (const { jobId } of bob.listJobs()) foreign.push(jobId);

assert.deepEqual(failed, ["broken"]);
assert.deepEqual(all, ["echo success", "echo success", "broken error", "echo success"]);
assert.deepEqual(foreign, []);
