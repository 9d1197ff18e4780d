/** ARCP inside a Fastify app: mounted on its `server`, before or after it listens. */
import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import fastify from "fastify";
import { ArcpClient, ArcpRuntime, mount, staticTokens } from "rollcall/arcp";

await using runtime = new ArcpRuntime({
  runtime: { name: "host-fastify", version: "1.0.0" },
  bearer: staticTokens({ demo: "me@example.com" }),
});
runtime.registerAgent("echo", (input) => input);

const app = fastify();
app.get("/", () => "a page");
mount(app.server, runtime);
await app.listen({ port: 0, host: "127.0.0.1" });
const { port } = app.server.address() as AddressInfo;

await using client = await ArcpClient.connect(`ws://127.0.0.1:${port}/arcp`, { token: "demo" });
const job = await client.submit({ agent: "echo", input: "hi" });
const page = await (await fetch(`http://127.0.0.1:${port}/`)).text();
const { result } = await job.done;
console.log(`port ${port} answers GET / with "${page}" and /arcp with "${String(result)}"`);

assert.equal(result, "hi");
assert.equal(page, "a page");
await client.close();
await app.close();
