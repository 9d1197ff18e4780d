/**
 * 10,000 first heartbeats for agents whose cards hang: the registry may keep 256 of them waiting,
 * and must serve the agents it knows as fast as at rest, in bounded memory.
 */
import { createServer, type AddressInfo, type Server } from "node:net";
import { Agent, request } from "node:http";
// tidy-allow sleep: a client that measures must leave the processor to the flood
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { WAITING } from "../../src/directory/limits.ts";
import { FETCH } from "../../src/net/fetch/limits.ts";
import { daemon, environment, Running } from "../e2e/programs.ts";
import { listed, post } from "./a2a/registries.ts";
import { openSite } from "./a2a/site.ts";

const FLOOD = 10_000;
const MIB = 1024 * 1024;
const PATH = "/.well-known/agents/heartbeat";

/** Servers that take connections and never say anything; as many as keep every fetch busy. */
async function silentServers() {
  const count = FETCH.atOnce / FETCH.atOncePerOrigin;
  const open = new Set<{ destroy(): unknown }>();
  let most = 0;
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer((socket) => {
        open.add(socket);
        most = Math.max(most, open.size);
        socket.on("close", () => open.delete(socket)).on("error", () => undefined);
        socket.resume();
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return server;
    }),
  );
  return {
    origins: servers.map((server: Server) => {
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    }),
    /** The most connections that were open at a time. */
    most: () => most,
    [Symbol.dispose]() {
      for (const socket of open) socket.destroy();
      for (const server of servers) server.close();
    },
  };
}

/** Times of heartbeats of a known agent, one after the other on one connection. */
class Pulse implements Disposable {
  readonly #registry: string;
  readonly #body: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  #tookMs: number[] = [];

  constructor(registry: string, body: string) {
    this.#registry = registry;
    this.#body = body;
  }

  async beat(): Promise<void> {
    const startedMs = performance.now();
    const options = { method: "POST", agent: this.#agent, headers: HEADERS };
    await new Promise<void>((resolve, reject) => {
      const sent = request(this.#registry + PATH, options, (response) => {
        response.resume().on("end", resolve);
      });
      sent.on("error", reject);
      sent.end(this.#body);
    });
    this.#tookMs.push(performance.now() - startedMs);
  }

  /** The 99th percentile since the last one, in ms. */
  p99(): number {
    const sorted = this.#tookMs.toSorted((a, b) => a - b);
    this.#tookMs = [];
    return sorted[Math.floor(sorted.length * 0.99)] ?? NaN;
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

const HEADERS = { "content-type": "application/json" };

async function residentBytes(registry: string): Promise<number> {
  const page = await (await fetch(`${registry}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(page)?.[1]);
}

/** Sends the flood; `origins` are those of the cards. */
function flooding(registry: string, rest: number, origins: readonly string[]): Running {
  const script = fileURLToPath(new URL("a2a/flood.mjs", import.meta.url));
  const args = [script, registry, String(FLOOD), String(rest), ...origins];
  return new Running(process.execPath, args, environment("/nowhere"));
}

interface Waits {
  readonly attackedMs: number;
  readonly calmMs: number;
}

/** The few milliseconds are for what happens to one of them only, as a collection of garbage. */
function isAsAtRest({ attackedMs, calmMs }: Waits): boolean {
  return attackedMs < 2 * calmMs + 10;
}

/**
 * Two registries, asked in turns: one hears of agents whose cards hang, the other at the same time
 * as much from an agent that it knows. So a busy machine slows down both.
 */
test("attack: 10,000 agents whose cards hang slow down no agent that is known", async ({
  annotate,
}) => {
  const attacked = await daemon("--memory", "--rate-limit", "0");
  await using running = attacked.up;
  const calm = await daemon("--memory", "--rate-limit", "0");
  await using _ = calm.up;
  using silent = await silentServers();
  using site = await openSite({
    cards: (origin) => ({ "/.well-known/agent.json": { name: "known", url: origin } }),
  });
  const beat = { agent_card: { name: "known", url: site.origin } };
  for (const { url } of [attacked, calm]) {
    expect(await (await post(url, PATH, beat)).json()).toMatchObject({ verified: true });
  }
  using hit = new Pulse(attacked.url, JSON.stringify(beat));
  using spared = new Pulse(calm.url, JSON.stringify(beat));
  const inTurns = async (goesOn: (sent: number) => boolean): Promise<Waits> => {
    for (let sent = 0; goesOn(sent); sent += 1) {
      await hit.beat();
      await spared.beat();
      await pause(1);
    }
    return { attackedMs: hit.p99(), calmMs: spared.p99() };
  };
  await inTurns((sent) => sent < 300);
  const restBytes = await residentBytes(attacked.url);

  await using flood = flooding(attacked.url, WAITING.most, silent.origins);
  await using control = flooding(calm.url, 0, [`${site.origin}/`]);
  const arrival = await inTurns(() => {
    return ![flood, control].every(({ stdout }) => stdout.includes("hanging"));
  });
  // A neighbour that takes the processor away spoils one round; a registry that is slow, all.
  let hanging = await inTurns((sent) => sent < 500);
  for (let again = 0; again < 2 && !isAsAtRest(hanging); again += 1) {
    hanging = await inTurns((sent) => sent < 500);
  }
  const moreBytes = (await residentBytes(attacked.url)) - restBytes;

  const measured = { arrival, hanging, moreMiB: moreBytes / MIB };
  await annotate(`p99 of known agents: ${JSON.stringify(measured)}`);
  for (const each of [arrival, hanging]) expect(measured).toSatisfy(() => isAsAtRest(each));
  expect(measured).toSatisfy(() => moreBytes < 256 * MIB);
  // Those of one turn may still be closing while the next are opened.
  expect(silent.most()).toBeLessThanOrEqual(2 * FETCH.atOnce);
  expect((await listed(attacked.url)).map(({ name }) => name)).toEqual(["known"]);
  expect(running.stderr).toBe("");
}, 120_000);
