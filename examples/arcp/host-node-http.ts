/** ARCP beside the pages of a plain node:http server: one port for both. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ArcpClient, ArcpRuntime, mount, staticTokens } from "rollcall/arcp";

await using runtime = new ArcpRuntime({
  runtime: { name: "host-node-http", version: "1.0.0" },
  bearer: staticTokens({ demo: "me@example.com" }),
});
runtime.registerAgent("echo", (input) => input);

const server = createServer((_, response) => void response.end("a page"));
mount(server, runtime); // at /arcp, unless another path is said
server.listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo;

await using client = await ArcpClient.connect(`ws://127.0.0.1:${port}/arcp`, { token: "demo" });
const job = await client.submit({ agent: "echo", input: "hi" });
const page = await (await fetch(`http://127.0.0.1:${port}/`)).text();
const { result } = await job.done;
console.log(`port ${port} answers GET / with "${page}" and /arcp with "${String(result)}"`);

assert.equal(result, "hi");
assert.equal(page, "a page");
server.close(); // the rest ends with the scope
