/** Several versions of one agent at once: a default for most, each by name for who needs it. */
import assert from "node:assert/strict";
import { ArcpClient, ArcpRuntime, codeOf, pairMemoryTransports, staticTokens } from "rollcall/arcp";

await using runtime = new ArcpRuntime({
  runtime: { name: "agent-versions", version: "1.0.0" },
  bearer: staticTokens({ demo: "me@example.com" }),
});
runtime.registerAgent("greeter", () => "good day", { version: "1.0.0", isDefault: true });
runtime.registerAgent("greeter", () => "hey!", { version: "2.0.0-rc.1" });
const [theirs, ours] = pairMemoryTransports();
runtime.accept(ours);
await using client = await ArcpClient.connect(theirs, { token: "demo" });
console.log(client.session.agents); // [ { name: 'greeter', versions: [ … ], default: '1.0.0' } ]

const stable = await client.submit({ agent: "greeter" });
const next = await client.submit({ agent: "greeter@2.0.0-rc.1" });
const missing = await client.submit({ agent: "greeter@9" }).catch(codeOf);

assert.deepEqual(client.session.agents, [
  { name: "greeter", versions: ["1.0.0", "2.0.0-rc.1"], default: "1.0.0" },
]);
assert.equal(stable.agent, "greeter@1.0.0");
assert.equal((await stable.done).result, "good day");
assert.equal((await next.done).result, "hey!");
assert.equal(missing, "AGENT_VERSION_NOT_AVAILABLE");
