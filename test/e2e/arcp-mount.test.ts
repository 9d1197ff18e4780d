/** §7.1: ARCP inside the servers people have; what is refused is refused before the upgrade. */
import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { afterEach, expect, test } from "vitest";
import { ArcpClient } from "../../src/wires/arcp/client/client.ts";
import { mount, type Mounted } from "../../src/wires/arcp/server/mount.ts";
import { ArcpRuntime } from "../../src/wires/arcp/server/runtime.ts";
import { staticTokens } from "../../src/wires/arcp/server/verifiers.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

function echoRuntime(): ArcpRuntime {
  const runtime = new ArcpRuntime({
    runtime: { name: "mounted", version: "1.0.0" },
    bearer: staticTokens({ demo: "me" }),
  });
  closing.push(() => runtime.close());
  return runtime.registerAgent("echo", (input) => input);
}

function listening(server: Server): Promise<number> {
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  return new Promise((resolve) => {
    const told = () => resolve((server.address() as AddressInfo).port);
    if (server.listening) told();
    else server.once("listening", told);
  });
}

async function echoOn(port: number): Promise<unknown> {
  await using client = await ArcpClient.connect(`ws://127.0.0.1:${port}/arcp`, { token: "demo" });
  const job = await client.submit({ agent: "echo", input: "hi" });
  return (await job.done).result;
}

test("in a bare node:http server", async () => {
  const server = createServer((_, response) => response.end("page")).listen(0, "127.0.0.1");
  const port = await listening(server);
  closing.push(mount(server, echoRuntime()).close);
  expect(await echoOn(port)).toBe("hi");
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe("page");
});

test("in Express", async () => {
  const app = express();
  app.get("/", (_, response) => void response.send("page"));
  const server = app.listen(0, "127.0.0.1");
  const port = await listening(server);
  closing.push(mount(server, echoRuntime()).close);
  expect(await echoOn(port)).toBe("hi");
});

test("in Fastify", async () => {
  const app = fastify();
  app.get("/", () => "page");
  await app.listen({ port: 0, host: "127.0.0.1" });
  closing.push(() => app.close());
  closing.push(mount(app.server, echoRuntime()).close);
  expect(await echoOn((app.server.address() as AddressInfo).port)).toBe("hi");
});

test("in Hono", async () => {
  const app = new Hono().get("/", (context) => context.text("page"));
  const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }) as Server;
  const port = await listening(server);
  closing.push(mount(server, echoRuntime()).close);
  expect(await echoOn(port)).toBe("hi");
});

/** The status of the answer to an upgrade. */
function knock(port: number, path: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest({
      port,
      path,
      headers: {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        ...headers,
      },
    });
    asked.on("response", ({ statusCode = 0 }) => resolve(statusCode));
    asked.on("upgrade", (_, socket) => {
      socket.destroy();
      resolve(101);
    });
    asked.on("error", reject);
    asked.end();
  });
}

test('"/arcp ignoring query; else HTTP 404 before upgrade"; Host and Origin: 403', async () => {
  const server = createServer().listen(0, "127.0.0.1");
  const port = await listening(server);
  closing.push(mount(server, echoRuntime()).close);
  const own = `localhost:${port}`;
  expect(await knock(port, "/arcp?x=1", { host: own })).toBe(101);
  expect(await knock(port, "/other", { host: own })).toBe(404);
  expect(await knock(port, "/arcp", { host: "evil.example" })).toBe(403);
  expect(await knock(port, "/arcp", { host: own, origin: "https://evil.example" })).toBe(403);
  expect(await knock(port, "/arcp", { host: own, origin: `http://${own}` })).toBe(101);
});

test("another taker of upgrades on the same server keeps its own", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  const port = await listening(server);
  const mounted: Mounted[] = [mount(server, echoRuntime())];
  mounted.push(mount(server, echoRuntime(), { path: "/second" }));
  closing.push(() => mounted.forEach(({ close }) => close()));
  const host = `localhost:${port}`;
  expect(await knock(port, "/arcp", { host })).toBe(101);
  expect(await knock(port, "/second", { host })).toBe(101);
  mounted[0]?.close();
  expect(await knock(port, "/arcp", { host })).toBe(404);
});
