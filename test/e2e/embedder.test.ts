/** A daemon that embeds by an endpoint: it is asked, it may fail, and its key stays a secret. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { afterEach, expect, test, vi } from "vitest";
import {
  FindRequestSchema,
  FindResponseSchema,
  RegisterRequestSchema,
} from "../../src/wires/keeper/gen/agentkeeper/v1/agentkeeper_pb.ts";
import { call } from "./grpc.ts";
import { scratch, start, type Running } from "./programs.ts";

const KEY = "sk-very-secret-123";
const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

interface Endpoint {
  readonly url: string;
  readonly asked: { readonly key: string | undefined; readonly model: string }[];
  isBroken: boolean;
}

/** Texts about the sea point one way, all others another. */
async function endpoint(): Promise<Endpoint> {
  const asked: Endpoint["asked"] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      const { model, input } = body as { model: string; input: readonly string[] };
      asked.push({ key: request.headers.authorization, model });
      if (made.isBroken) return response.writeHead(500).end();
      const data = input.map((text, index) => ({
        index,
        embedding: /ship|ocean/.test(text) ? [1, 0] : [0, 1],
      }));
      return response.end(JSON.stringify({ data }));
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const made: Endpoint = { url: `http://127.0.0.1:${port}/v1/embeddings`, asked, isBroken: false };
  return made;
}

async function up(
  url: string,
  folder: string,
): Promise<{ up: Running; http: string; port: number }> {
  const own = ["--addr", ":0", "--http-addr", ":0", "--data-dir", folder, "--log-level", "trace"];
  const running = start(["up", ...own, "--embedder-url", url, "--embedder-model", "tiny"], {
    env: { ROLLCALL_EMBEDDER_KEY: KEY },
  });
  const [, http = ""] = await running.says(/HTTP +(http:\S+)[^]*only this machine/);
  const [, port = ""] = await running.says(/gRPC +\S+:(\d+)/);
  return { up: running, http, port: Number(port) };
}

async function register(port: number, name: string, description: string): Promise<void> {
  const request = create(RegisterRequestSchema, { card: { name, description }, ttlSeconds: 600 });
  const path = "/agentkeeper.v1.RegistryService/Register";
  const { status } = await call(port, path, toBinary(RegisterRequestSchema, request));
  expect(status).toBe(0);
}

async function find(port: number, query: string): Promise<readonly string[]> {
  const request = toBinary(FindRequestSchema, create(FindRequestSchema, { query }));
  const { status, message } = await call(port, "/agentkeeper.v1.RegistryService/Find", request);
  expect(status).toBe(0);
  return fromBinary(FindResponseSchema, message).agents.map(({ card }) => card?.name ?? "");
}

test("find ranks by the endpoint, by words while it fails, and nobody sees the key", async () => {
  using folder = scratch();
  const embedder = await endpoint();
  const { up: daemon, http, port } = await up(embedder.url, folder.path);
  await using running = daemon;
  await running.says(/agents are embedded by an endpoint/, "stderr");
  await register(port, "baker", "Makes bread");
  await register(port, "sailor", "Steers a ship");
  // No word in common: only the vectors know.
  expect((await find(port, "cross the ocean"))[0]).toBe("sailor");
  expect(new Set(embedder.asked.map((each) => JSON.stringify(each)))).toEqual(
    new Set([JSON.stringify({ key: `Bearer ${KEY}`, model: "tiny" })]),
  );

  embedder.isBroken = true;
  expect((await find(port, "bread"))[0]).toBe("baker");
  await running.says(/could not embed a query/, "stderr");
  expect(running.stderr).toContain("answers with status 500");
  embedder.isBroken = false;
  await vi.waitFor(async () => expect((await find(port, "the ocean"))[0]).toBe("sailor"));

  const pages = ["/v1/status", "/v1/overview", "/metrics"].map(async (path) =>
    (await fetch(http + path)).text(),
  );
  const said = [running.stdout, running.stderr, ...(await Promise.all(pages))].join("\n");
  expect(said).not.toContain("very-secret");
  running.signal("SIGTERM");
  expect(await running.end()).toMatchObject({ code: 0 });
});
