/**
 * The real users of the A2A registry against our daemon: the Python client in both generations, and
 * an agent made with the A2A SDK for JavaScript.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AgentCard as SdkCard } from "@a2a-js/sdk";
import { DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { agentCardHandler, jsonRpcHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import express from "express";
import { expect, test, vi } from "vitest";
import { A2A_01_PYTHON, A2A_02_PYTHON, lacks } from "../../scripts/prerequisites.mjs";
import { daemon, environment, run, Running, start } from "../e2e/programs.ts";

const SCRIPTS = fileURLToPath(new URL("a2a/", import.meta.url));
const GENERATIONS = [
  { name: "0.1.0", python: A2A_01_PYTHON, isMissing: lacks("a2a-registry-0.1") },
  { name: "0.2.0", python: A2A_02_PYTHON, isMissing: lacks("a2a-registry-0.2") },
] as const;
const HAVE = GENERATIONS.filter(({ isMissing }) => !isMissing);

type Card = Readonly<Record<string, unknown>>;

/** An agent that publishes these cards, by path, and nothing else. */
async function agent(pages: (url: string) => Readonly<Record<string, Card>>) {
  const server: Server = createServer((request, response) => {
    const card = pages(url)[request.url ?? ""];
    response.writeHead(card ? 200 : 404, { "content-type": "application/json" });
    response.end(card ? JSON.stringify(card) : "{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, [Symbol.dispose]: () => void server.close() };
}

function python(program: string, script: string, told: object): Running {
  const env = environment(tmpdir(), { PYTHONDONTWRITEBYTECODE: "1" });
  return new Running(program, [join(SCRIPTS, script), JSON.stringify(told)], env);
}

async function send(program: string, told: { cards: readonly Card[]; registry: string }) {
  await using running = python(program, "send.py", { options: {}, ...told });
  const { code, stdout, stderr } = await running.end();
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as readonly (readonly [verified: boolean, interval: number] | null)[];
}

async function listed(registry: string, version?: string): Promise<readonly Card[]> {
  const headers: Record<string, string> = version === undefined ? {} : { "a2a-version": version };
  return (await (await fetch(`${registry}/.well-known/agents`, { headers })).json()) as Card[];
}

test.for(HAVE)(
  "the Python client $name registers cards of both versions, under base paths, with fall-backs",
  { timeout: 60_000 },
  async ({ python: program }) => {
    const { up, url: registry } = await daemon("--memory");
    await using running = up;
    using plain = await agent((url) => ({
      "/.well-known/agent.json": { name: "plain", url, "x-odd": 1 },
    }));
    using modern = await agent((url) => ({
      "/.well-known/agent-card.json": { name: "modern", ...interfaces(`${url}/jsonrpc`) },
    }));
    // Its card lies under a base path, and has the file name of the other generation.
    using based = await agent((url) => ({
      "/team/.well-known/agent-card.json": { name: "based", url: `${url}/team/agent` },
    }));
    const cards = [
      { name: "plain", url: plain.url },
      { name: "modern", ...interfaces(`${modern.url}/jsonrpc`) },
      { name: "based", url: `${based.url}/team/agent` },
      { name: "absent", url: "http://127.0.0.1:9/" },
    ];
    const answers = await send(program, { registry, cards });
    expect(answers.map((answer) => answer?.[0])).toEqual([true, true, true, false]);
    // The second generation is told when to come back, thrice before it is evicted, and heeds it.
    expect(answers.map((answer) => answer?.[1])).toEqual([30, 30, 30, 30]);

    const own = await listed(registry);
    expect(own.map((card) => card["url"])).toEqual([plain.url, null, `${based.url}/team/agent`]);
    const now = await listed(registry, "1.0");
    expect(now.map((card) => card["name"])).toEqual(["plain", "modern", "based"]);
    expect(now.every((card) => card["url"] === null)).toBe(true);
    expect(now[0]).toMatchObject({ "x-odd": 1, supportedInterfaces: [{ url: plain.url }] });
    const then = await listed(registry, "0.3");
    expect(then.map((card) => card["url"])).toEqual([
      plain.url,
      `${modern.url}/jsonrpc`,
      `${based.url}/team/agent`,
    ]);
    expect(then.every((card) => card["supportedInterfaces"] === null)).toBe(true);
    expect(running.stderr).not.toMatch(/"level":"?(?:error|fatal|50|60)/);
  },
);

function interfaces(url: string) {
  return {
    supportedInterfaces: [{ url, protocolBinding: "json-rpc/2.0", protocolVersion: "1.0" }],
  };
}

test.skipIf(lacks("a2a-registry-0.2"))(
  "the Python client 0.2.0 sends either version, and both mean the same agent",
  { timeout: 40_000 },
  async () => {
    const { up, url: registry } = await daemon("--memory");
    await using running = up;
    using plain = await agent((url) => ({ "/.well-known/agent.json": { name: "plain", url } }));
    const cards = [{ name: "plain", url: plain.url }];
    for (const version of ["0.3", "1.0"]) {
      const told = { registry, cards, options: { a2a_version: version } };
      expect(await send(A2A_02_PYTHON, told)).toEqual([[true, 30]]);
    }
    expect(await listed(registry)).toHaveLength(1);
    expect(running.stderr).toBe("");
  },
);

test.skipIf(lacks("a2a-registry-0.1"))(
  "rollcall a2a-registry heeds the peer's variables, and evicts who falls silent",
  { timeout: 60_000 },
  async () => {
    const free = await agent(() => ({}));
    const port = new URL(free.url).port;
    free[Symbol.dispose]();
    const env = { STALE_MULTIPLIER: "1", EXPECTED_HEARTBEAT_INTERVAL: "7", A2A_VERSION: "0.3" };
    await using registry = start(["a2a-registry", "--port", port], { env });
    await registry.says(/only this machine/);
    const url = `http://127.0.0.1:${port}`;
    using plain = await agent((own) => ({
      "/.well-known/agent.json": { name: "plain", url: own },
    }));
    const card = { name: "plain", url: plain.url };
    const beat = (agent_card: object, interval: number) =>
      fetch(`${url}/.well-known/agents/heartbeat`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ agent_card, interval }),
      });
    // As often as the operator wishes, unless the agent would be evicted before.
    const [rare, often] = await Promise.all([
      beat({ ...card, url: `${url}/x` }, 60),
      beat(card, 1),
    ]);
    expect([rare.status, rare.headers.get("retry-after")]).toEqual([202, "7"]);
    expect([often.status, often.headers.get("retry-after")]).toEqual([202, "1"]);
    {
      await using staying = python(A2A_01_PYTHON, "stay.py", { registry: url, card });
      await staying.says(/started/);
      await vi.waitFor(async () => expect(await listed(url)).toMatchObject([{ url: plain.url }]));
    }
    const gone = async () => expect(await listed(url)).toEqual([]);
    await vi.waitFor(gone, { timeout: 20_000, interval: 200 });
  },
);

test("an agent made with the A2A SDK is found, verified, listed and shown", async () => {
  const { up, url: registry } = await daemon("--memory");
  await using running = up;
  const app = express();
  const server = app.listen(0, "127.0.0.1");
  await new Promise<void>((resolve) => server.once("listening", resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const card = SdkCard.fromJSON({
      name: "Hello",
      description: "Greets people in any language",
      version: "3.0.0",
      supportedInterfaces: [
        { url: `${url}/a2a`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      ],
      capabilities: { streaming: true },
      defaultInputModes: ["text/plain"],
      defaultOutputModes: ["text/plain"],
      skills: [{ id: "greet", name: "Greeting", description: "Says hello", tags: ["hello"] }],
    });
    const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), {
      execute: async () => undefined,
      cancelTask: async () => undefined,
    });
    mountAgent(app, requestHandler);
    const added = await run(["directory", "add", url, "--url", registry]);
    expect(added.stdout).toMatch(/^name +Hello$/m);
    expect(added.stdout).toMatch(/^tier +owner$/m);
    expect(await listed(registry)).toMatchObject([
      { name: "Hello", supportedInterfaces: [{ url: `${url}/a2a`, protocolBinding: "JSONRPC" }] },
    ]);
    const found = await run(["directory", "search", "say hello", "--url", registry]);
    expect(found.stdout).toContain(`${url}/a2a`);
    const fleet = await run(["ls", "--url", registry]);
    expect(fleet.stdout).toContain("Hello");
    expect(running.stderr).toBe("");
  } finally {
    server.close();
  }
}, 60_000);

function mountAgent(app: express.Express, requestHandler: DefaultRequestHandler): void {
  const userBuilder = UserBuilder.noAuthentication;
  app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
  app.use("/a2a", jsonRpcHandler({ requestHandler, userBuilder }));
}
