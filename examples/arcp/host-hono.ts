/** ARCP inside a Hono app: on Node it runs on an http.Server, and that is where to mount. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { ArcpClient, ArcpRuntime, mount, staticTokens } from "rollcall/arcp";

await using runtime = new ArcpRuntime({
  runtime: { name: "host-hono", version: "1.0.0" },
  bearer: staticTokens({ demo: "me@example.com" }),
});
runtime.registerAgent("echo", (input) => input);

const app = new Hono().get("/", (context) => context.text("a page"));
const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }) as Server;
mount(server, runtime);
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
