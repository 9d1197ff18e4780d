/**
 * The real A2A registry from PyPI, in both generations: our client registers agents with its
 * server, its client registers agents with ours, and both judge and write the same cards the same.
 */
import { execFileSync, spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { A2A_01_PYTHON, A2A_02_PYTHON, lacks } from "../../scripts/prerequisites.mjs";
import { RegistryClient } from "../../src/wires/a2a/client/client.ts";
import { RegistryServer } from "../../src/wires/a2a/client/server.ts";
import type { A2aCard } from "../../src/wires/a2a/client/types.ts";
import { readCard } from "../../src/directory/cards/card.ts";
import { readHeartbeat } from "../../src/directory/cards/heartbeat.ts";
import { cardAs } from "../../src/directory/cards/versions.ts";
import { environment, Running } from "../e2e/programs.ts";
import { BODIES, CARDS } from "./a2a/corpus.ts";

const isMissing = lacks("a2a-registry-0.1") || lacks("a2a-registry-0.2");
const SCRIPTS = fileURLToPath(new URL("a2a/", import.meta.url));
const ENV = environment("/nowhere", { PYTHONDONTWRITEBYTECODE: "1" });

/** The first generation came without a server to run it: it borrows that of the second. */
const LIBRARY_01 = join(A2A_01_PYTHON, "../../lib");
const PACKAGES_01 = isMissing
  ? ""
  : join(LIBRARY_01, readdirSync(LIBRARY_01)[0] ?? "", "site-packages");
/** A Python that starts with all of this takes seconds on a busy machine. */
const SLOW = { timeout: 60_000 };
const GENERATIONS = [
  { version: "0.1.0", python: A2A_01_PYTHON, serverEnv: { ...ENV, PYTHONPATH: PACKAGES_01 } },
  { version: "0.2.0", python: A2A_02_PYTHON, serverEnv: ENV },
];

/** Agents on one port of loopback, each publishing its card at a path. */
class Agents implements AsyncDisposable {
  readonly cards = new Map<string, A2aCard>();
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    server.on("request", (request, response) => {
      const card = this.cards.get(request.url ?? "");
      if (!card) return void response.writeHead(404).end();
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(card));
    });
  }

  static async start(): Promise<Agents> {
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    return new Agents(server);
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** At the origin, under the file name of v0.3. */
  publishOld(name: string, path = ""): A2aCard {
    const card = { name, url: this.origin + path, version: "1.2.3", extra: { kept: [1.5, "é"] } };
    this.cards.set(`${path}/.well-known/agent.json`, card);
    return card;
  }

  publishNew(name: string, path: string): A2aCard {
    const only = { url: `${this.origin}${path}`, protocolBinding: "json-rpc/2.0" };
    const card = { name, supportedInterfaces: [only], version: "1.2.3" };
    this.cards.set("/.well-known/agent-card.json", card);
    return card;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

describe.skipIf(isMissing).each(GENERATIONS)("the real registry $version", SLOW, (generation) => {
  const { version, python, serverEnv } = generation;

  test("takes our client's agents, and lists those it could reach", async () => {
    await using agents = await Agents.start();
    const args = [join(SCRIPTS, "server.py"), version];
    await using server = new Running(A2A_02_PYTHON, args, serverEnv);
    const [registryUrl = ""] = await server.says(/http:\S+/);
    const cards = [agents.publishOld("old"), agents.publishNew("new", "/rpc")];
    const lost = { name: "lost", url: "http://127.0.0.1:9" };
    const options = { registryUrl, intervalS: 30, env: {} };

    const clients = [...cards, lost].map((card) => new RegistryClient(card, options));
    const verified: boolean[] = [];
    // One after the other: it lists them as they come.
    for (const client of clients) verified.push((await client.sendOnce()).verified);
    expect(verified).toEqual([true, true, false]);
    // Only the second generation says how often it wants to hear.
    expect(clients[0]?.intervalS).toBe(version === "0.1.0" ? 30 : 60);

    await using running = clients[0]?.start();
    const listed = await running?.list();
    expect(listed?.map(({ name }) => name)).toEqual(["old", "new"]);
    expect(listed?.[0]).toMatchObject({ extra: { kept: [1.5, "é"] } });
    if (version === "0.2.0") {
      const old = await running?.list({ version: "0.3" });
      const urls = [agents.origin, `${agents.origin}/rpc`];
      expect(old?.map(({ url }) => url)).toEqual(urls);
      expect(listed?.map(({ url }) => url)).toEqual([null, null]);
    }
  });

  test("refuses our client's card in words it understands", async () => {
    const args = [join(SCRIPTS, "server.py"), version];
    await using server = new Running(A2A_02_PYTHON, args, serverEnv);
    const [registryUrl = ""] = await server.says(/http:\S+/);
    const fetch = async (url: string, init: RequestInit): Promise<Response> =>
      globalThis.fetch(url, init.body ? { ...init, body: '{"agent_card":{}}' } : init);
    const card = { name: "x", url: "http://127.0.0.1:9" };
    const client = new RegistryClient(card, { registryUrl, fetch, env: {} });
    await expect(client.sendOnce()).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      message: expect.stringContaining("body.agent_card.name: Field required") as string,
    });
  });

  test("its client's agents are taken by our server, mounted in node:http", async () => {
    await using agents = await Agents.start();
    await using registry = new RegistryServer({
      reach: { allowsLoopback: true },
      expectedIntervalS: 15,
    });
    const server = createServer(registry.mount.node());
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const lost = { name: "lost", url: "http://127.0.0.1:9" };
    const cards = [agents.publishOld("old", "/base/path"), agents.publishNew("new", "/a/b"), lost];
    const said = await runClient(python, [version, url], cards);
    server.closeAllConnections();
    server.close();

    const verified = said.results.map((result) => result?.verified);
    expect(verified).toEqual([true, true, false]);
    expect(said.intervals).toEqual(
      Array.from({ length: 3 }, () => (version === "0.1.0" ? 30 : 15)),
    );
    const urls = [`${agents.origin}/base/path`, `${agents.origin}/a/b`];
    expect(said.urls).toEqual(urls);
    expect(said.listed).toMatchObject([
      { name: "old", url: urls[0], description: null, extra: { kept: [1.5, "é"] } },
      { name: "new", url: null, skills: [] },
    ]);
  });

  test("finds the same faults in the same places, in the same words", () => {
    const { answers } = verdicts(python);
    for (const [i, body] of BODIES.entries()) {
      const read = readHeartbeat(body);
      expect({ body, detail: read.ok ? null : read.problems }).toEqual({
        body,
        detail: answers[i],
      });
    }
    expect(answers.filter((answer) => answer !== null).length).toBeGreaterThan(35);
  });
});

// Only this one: the first generation lists cards as they came.
test.skipIf(isMissing)("the real registry 0.2.0 writes the same cards byte for byte", SLOW, () => {
  const { listings } = verdicts(A2A_02_PYTHON);
  for (const [i, text] of CARDS.entries()) {
    const read = readCard(text);
    const ours = read.ok ? [cardAs(read.card, "0.3"), cardAs(read.card, "1.0")] : [];
    expect({ text, written: ours }).toEqual({ text, written: listings[i] });
  }
});

interface Said {
  readonly results: readonly ({ readonly verified: boolean } | null)[];
  readonly intervals: readonly number[];
  readonly listed: readonly unknown[];
  readonly urls: readonly string[];
}

async function runClient(
  python: string,
  args: readonly string[],
  cards: readonly A2aCard[],
): Promise<Said> {
  const child = spawn(python, [join(SCRIPTS, "client.py"), ...args], { env: ENV });
  let [output, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  child.stdin.end(JSON.stringify(cards));
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  if (code !== 0) throw new Error(`client.py ended with ${code}: ${errors}`);
  return JSON.parse(output) as Said;
}

interface Verdicts {
  /** The `detail` of each refusal, null where there was none. */
  readonly answers: readonly unknown[];
  /** For each card, how it is listed in v0.3 and in v1.0. */
  readonly listings: readonly (readonly [string, string])[];
}

function verdicts(python: string): Verdicts {
  const input = JSON.stringify({ bodies: BODIES, cards: CARDS });
  const options = { input, env: ENV, encoding: "utf8" } as const;
  return JSON.parse(execFileSync(python, [join(SCRIPTS, "verdicts.py")], options)) as Verdicts;
}
