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

/** The 99th percentile, in ms, of heartbeats one after the other on one connection. */
async function p99(
  registry: string,
  body: string,
  goesOn: (sent: number) => boolean,
): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { "content-type": "application/json" };
  const tookMs: number[] = [];
  while (goesOn(tookMs.length)) {
    const startedMs = performance.now();
    await new Promise<void>((resolve, reject) => {
      const sent = request(registry + PATH, { method: "POST", agent, headers }, (response) => {
        response.resume().on("end", resolve);
      });
      sent.on("error", reject);
      sent.end(body);
    });
    tookMs.push(performance.now() - startedMs);
    await pause(1);
  }
  agent.destroy();
  return tookMs.toSorted((a, b) => a - b)[Math.floor(tookMs.length * 0.99)] ?? NaN;
}

async function residentBytes(registry: string): Promise<number> {
  const page = await (await fetch(`${registry}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(page)?.[1]);
}

test("attack: 10,000 agents whose cards hang slow down no agent that is known", async () => {
  const { up, url } = await daemon("--memory", "--rate-limit", "0");
  await using running = up;
  using silent = await silentServers();
  using site = await openSite({
    cards: (origin) => ({ "/.well-known/agent.json": { name: "known", url: origin } }),
  });
  const beat = { agent_card: { name: "known", url: site.origin } };
  expect(await (await post(url, PATH, beat)).json()).toMatchObject({ verified: true });
  const body = JSON.stringify(beat);
  await p99(url, body, (sent) => sent < 300);
  const restMs = await p99(url, body, (sent) => sent < 500);
  const restBytes = await residentBytes(url);

  const script = fileURLToPath(new URL("a2a/flood.mjs", import.meta.url));
  const args = [script, url, String(FLOOD), String(WAITING.most), ...silent.origins];
  await using flood = new Running(process.execPath, args, environment("/nowhere"));
  const arrivalMs = await p99(url, body, () => !flood.stdout.includes("hanging"));
  const hangingMs = await p99(url, body, (sent) => sent < 500);
  const moreBytes = (await residentBytes(url)) - restBytes;

  const measured = { restMs, arrivalMs, hangingMs, moreMiB: moreBytes / MIB };
  // None of the known waits; what the flood takes is the time to hear it.
  expect(measured).toSatisfy(() => arrivalMs < WAITING.shortMs / 2);
  expect(measured).toSatisfy(() => hangingMs < 2 * restMs + 20);
  expect(measured).toSatisfy(() => moreBytes < 256 * MIB);
  // Those of one turn may still be closing while the next are opened.
  expect(silent.most()).toBeLessThanOrEqual(2 * FETCH.atOnce);
  expect((await listed(url)).map(({ name }) => name)).toEqual(["known"]);
  expect(running.stderr).toBe("");
}, 60_000);
