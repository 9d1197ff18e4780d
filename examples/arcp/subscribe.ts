/** A second client follows a job that the first submitted: what was said before comes first. */
import assert from "node:assert/strict";
import { ArcpClient, ArcpRuntime, codeOf, pairMemoryTransports, staticTokens } from "rollcall/arcp";

await using runtime = new ArcpRuntime({
  runtime: { name: "subscribe", version: "1.0.0" },
  bearer: staticTokens({ laptop: "ada@example.com", phone: "ada@example.com", eve: "eve" }),
});
let goOn = () => {};
const isFollowed = new Promise<void>((resolve) => (goOn = resolve));
runtime.registerAgent("baker", async (_, job) => {
  await job.status("kneading");
  await isFollowed;
  await job.status("baking");
  return "bread";
});
const connect = (token: string) => {
  const [theirs, ours] = pairMemoryTransports();
  runtime.accept(ours);
  return ArcpClient.connect(theirs, { token });
};

await using laptop = await connect("laptop");
const { id } = await laptop.submit({ agent: "baker" });

await using phone = await connect("phone");
const job = await phone.subscribe(id);
goOn();
const phases: string[] = [];
for await (const { kind, body } of job.events()) if (kind === "status") phases.push(body.phase);
const { result } = await job.done;
console.log(phases, result); // [ 'kneading', 'baking' ] bread

// Somebody else does not even learn that there is such a job.
await using stranger = await connect("eve");
const refusal = await stranger.subscribe(id).catch(codeOf);

assert.deepEqual(phases, ["kneading", "baking"]);
assert.equal(result, "bread");
assert.equal(refusal, "NOT_FOUND");
