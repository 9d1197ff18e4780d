/**
 * The A2A registry under load, against the peer (uvicorn with uvloop, and as a second one the same
 * with httptools, which the peer does not bring) and against a bare node:http server that sends the
 * same bytes. All in turns, in one run, with the same 1,000 agents, whose cards all registries have
 * fetched. `--quick` is without the peer.
 */
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { provide } from "../scripts/prerequisites.mjs";
import { load } from "./a2a/load.ts";
import { freeAddress, start, type Program } from "./keeper/programs.ts";
import {
  conclude,
  inTemporaryFolder,
  isQuick,
  measuredInTurns,
  report,
  type Measured,
} from "./measure.ts";
import { Daemon } from "./shared/daemon.ts";

const PYTHON = ".cache/venv/a2a-bench/bin/python";
const PEER = "bench/a2a/peer.py";
const ROUNDS = 5;
const AGENTS = 1_000;
/** Of the agents that only memory is measured with: as many servers of AGENTS each. */
const MORE_SERVERS = 4;
const SENDERS = 32;
/** So many that the look-up of the user of each new connection does not count. */
const HEARTBEATS = 100_000;
const HEARTBEAT = "/.well-known/agents/heartbeat";
const LISTING = "/.well-known/agents";

const missing = provide(isQuick ? ["h2load"] : ["h2load", "a2a-bench"]);
if (missing.length > 0) throw new Error(`this needs ${missing.map(({ name }) => name).join(", ")}`);

function cardOf(url: string) {
  return {
    name: `Agent ${url}`,
    description: "Reads invoices that were scanned, and tells what is due, to whom and when",
    url,
    version: "1.4.2",
    provider: { organization: "Example", url: "https://example.com" },
    capabilities: { streaming: true, pushNotifications: false },
    defaultInputModes: ["text/plain", "application/pdf"],
    skills: ["read", "sum up", "remind"].map((name, i) => ({
      id: `skill-${i}`,
      name,
      description: `It can ${name} what somebody sent`,
      tags: ["invoices", "finance"],
    })),
  };
}

/** A server with the cards of all its agents, each under its own path. */
async function publish() {
  const server = createServer((request, response) => {
    const [, number] = /^\/(\d+)\/\.well-known\/agent\.json$/.exec(request.url ?? "") ?? [];
    response.writeHead(number === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(number === undefined ? "{}" : JSON.stringify(cardOf(`${origin}/${number}`)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const bodies = Array.from({ length: AGENTS }, (_, i) =>
    JSON.stringify({ agent_card: cardOf(`${origin}/${i}`), interval: 3_600 }),
  );
  return { bodies, [Symbol.dispose]: () => void server.close() };
}

/** Sends each until it is verified. */
async function register(registry: string, bodies: readonly string[]): Promise<void> {
  const left = [...bodies];
  const sender = async () => {
    for (let body = left.pop(); body !== undefined; body = left.pop()) {
      const headers = { "content-type": "application/json" };
      const answer = await fetch(registry + HEARTBEAT, { method: "POST", headers, body });
      const { verified } = (await answer.json()) as { readonly verified: boolean };
      if (!verified) left.push(body);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
}

/** The peer, with one of the two HTTP parsers that uvicorn takes. */
async function startPeer(parser: "h11" | "httptools"): Promise<Program> {
  const address = await freeAddress();
  return start(PYTHON, [PEER, parser, address], address);
}

await inTemporaryFolder(async (folder) => {
  using agents = await publish();
  const daemon = await Daemon.start(join(folder, "state"));
  try {
    await using registry = isQuick ? undefined : await startPeer("h11");
    await using faster = isQuick ? undefined : await startPeer("httptools");
    const ours = daemon.url;
    const peers = [registry, faster].flatMap((peer) => (peer ? [`http://${peer.address}`] : []));
    for (const each of [ours, ...peers]) await register(each, agents.bodies);
    const listing = await (await fetch(ours + LISTING)).text();
    const file = join(folder, "listing.json");
    writeFileSync(file, listing);
    const bareAddress = await freeAddress();
    const bareArgs = ["bench/a2a/bare.mjs", bareAddress, file];
    await using sender = await start(process.execPath, bareArgs, bareAddress);
    const bare = `http://${sender.address}`;

    const body = agents.bodies[0] ?? "";
    const [beat, theirBeat, fastBeat] = await measuredInTurns(ROUNDS, [
      () => load(folder, { url: ours + HEARTBEAT, body, requests: HEARTBEATS }),
      ...peers.map((peer) => () => load(folder, { url: peer + HEARTBEAT, body, requests: 3_000 })),
    ]);
    const [list, bareList, theirList] = await measuredInTurns(ROUNDS, [
      () => load(folder, { url: ours + LISTING, requests: 1_500 }),
      () => load(folder, { url: bare + LISTING, requests: 1_500 }),
      ...peers.slice(0, 1).map((peer) => () => load(folder, { url: peer + LISTING, requests: 60 })),
    ]);
    compare("heartbeats", [beat, theirBeat], 6);
    if (fastBeat) {
      const ratio = beat.perSecond / fastBeat.perSecond;
      report({ name: "  against the peer with httptools as well", value: ratio, unit: "×" });
    }
    compare(
      `GET of ${AGENTS} agents, ${Math.round(listing.length / 1024)} KiB`,
      [list, theirList],
      25,
    );
    report({ name: "  bare node:http, same bytes", value: bareList.perSecond, unit: "/s" });
    const share = list.perSecond / bareList.perSecond;
    report({ name: "  against bare", value: share, unit: "×", target: { atLeast: 0.6 } });
    await memory(daemon);
  } finally {
    await daemon.close();
  }
});
conclude();

/** What an agent costs, its card of about 1 KiB included. */
async function memory(daemon: Daemon): Promise<void> {
  const residentBytes = async () =>
    (await daemon.metrics()).get("process_resident_memory_bytes") ?? NaN;
  const before = await residentBytes();
  for (let i = 0; i < MORE_SERVERS; i += 1) {
    using more = await publish();
    await register(daemon.url, more.bodies);
  }
  const bytes = ((await residentBytes()) - before) / (MORE_SERVERS * AGENTS);
  report({ name: "memory per agent (resident, not collected)", value: bytes / 1024, unit: "KiB" });
}

function compare(
  name: string,
  [ours, theirs]: readonly [Measured, Measured | undefined],
  atLeast: number,
): void {
  report({ name: `${name}, ours`, value: ours.perSecond, unit: "/s" });
  const p99 = { name: "  p99", value: ours.p99Ms, unit: "ms" };
  if (!theirs) {
    report(p99);
    return;
  }
  report({ name: "  the peer", value: theirs.perSecond, unit: "/s" });
  const ratio = ours.perSecond / theirs.perSecond;
  report({ name: "  against the peer", value: ratio, unit: "×", target: { atLeast } });
  report({ name: "  p99 of the peer", value: theirs.p99Ms, unit: "ms" });
  report({ ...p99, target: { atMost: theirs.p99Ms } });
}
