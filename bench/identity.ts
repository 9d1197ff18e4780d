/**
 * What it costs to know the unix user of a caller: by the look-up alone, with few connections on
 * this machine and with ten thousand, and by the doors of the built daemon. The promises are those
 * of docs/security.md: a lone caller does not notice, a crowd shares one read, nothing of it stands
 * still meanwhile, and our own clients, which use the socket, have no part in it. The best of some
 * rounds counts: neighbours that keep the processor busy are not ours to measure.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { peerOf } from "../src/identity/caller.ts";
import { readConnections, type ConnectionEnds } from "../src/identity/connections.ts";
import { PeerUsers } from "../src/identity/peer-users.ts";
import { systemClock as clock } from "../src/machine/clock.ts";
import { Daemon } from "./shared/daemon.ts";
import { conclude, inTemporaryFolder, report, roundsOf } from "./measure.ts";

const CROWD = 10_000;
/** More would come at once than go on for ever: see PeerUsers. */
const APART_MS = 120;

async function crowdAt(port: number, count: number): Promise<ChildProcess> {
  const child = fork("bench/identity/crowd.mjs", [String(port), String(count)]);
  await once(child, "message");
  return child;
}

async function elapsedMs(run: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await run();
  return performance.now() - startMs;
}

async function bestOf(rounds: number, run: () => Promise<number>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < roundsOf(rounds); round += 1) times.push(await run());
  return Math.min(...times);
}

const accepted: Socket[] = [];
const server = createServer((socket) => accepted.push(socket.on("error", () => undefined)));
server.listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo;

async function endsOf(count: number): Promise<readonly ConnectionEnds[]> {
  while (accepted.length < count) await sleep(10);
  return accepted.slice(0, count).flatMap((socket) => peerOf(socket).ends ?? []);
}

/** A caller that comes alone. */
function loneMs(ends: ConnectionEnds): Promise<number> {
  const users = new PeerUsers({ clock });
  return bestOf(10, async () => {
    await sleep(APART_MS);
    return elapsedMs(() => users.userOf(ends));
  });
}

const first = await crowdAt(port, 1);
const [lone] = await endsOf(1);
if (!lone) throw new Error("the connection has no ends");
const fewMs = await loneMs(lone);
report({ name: "a lone connection waits", value: fewMs, unit: "ms", target: { atMost: 10 } });

const rest = await crowdAt(port, CROWD - 1);
const all = await endsOf(CROWD);
const manyMs = await loneMs(lone);
const open = `with ${CROWD} open`;
report({ name: `  ${open}`, value: manyMs, unit: "ms", target: { atMost: 200 } });

const delays = monitorEventLoopDelay({ resolution: 1 });
delays.enable();
await loneMs(lone);
delays.disable();
const standstillMs = delays.percentile(50) / 1e6;
const still = "  meanwhile the loop stands still, median";
report({ name: still, value: standstillMs, unit: "ms", target: { atMost: 5 } });

async function burstMs(): Promise<number> {
  const users = new PeerUsers({ clock });
  return elapsedMs(async () => {
    const uids = await Promise.all(all.map((ends) => users.userOf(ends)));
    if (uids.some((uid) => uid !== process.getuid?.())) throw new Error("a user is not ours");
  });
}

const burst = (await bestOf(5, burstMs)) / (CROWD / 1000);
report({ name: `each of ${CROWD} at once`, value: burst, unit: "µs", target: { atMost: 50 } });

let reads = 0;
const users = new PeerUsers({
  clock,
  read(asked) {
    reads += 1;
    return readConnections(asked);
  },
});
const lookups: Promise<unknown>[] = [];
const tookMs = await elapsedMs(async () => {
  for (let i = 0; i < 500; i += 1) {
    lookups.push(users.userOf(lone));
    await sleep(5);
  }
  await Promise.all(lookups);
});
// Ten are there for a start.
const perSecond = ((reads - 10) / tookMs) * 1000;
report({
  name: "reads a second, for 200 that come",
  value: perSecond,
  unit: "",
  target: { atMost: 10 },
});

for (const child of [first, rest]) child.disconnect();
server.close();

/** A call on a connection of its own. */
function call(where: { readonly port: number } | { readonly socketPath: string }): Promise<number> {
  return elapsedMs(async () => {
    const asked = request({ ...where, host: "127.0.0.1", path: "/v1/status", agent: false }).end();
    const [answer] = (await once(asked, "response")) as [
      NodeJS.ReadableStream & { statusCode: number },
    ];
    if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`);
    await once(answer.resume(), "end");
  });
}

/** Without the first, which finds nothing compiled. */
function best(times: readonly number[]): number {
  return Math.min(...times.slice(1));
}

await inTemporaryFolder(async (folder) => {
  const at = async (trust: string) =>
    Daemon.start(join(folder, trust), { flags: ["--local-trust", trust, "--no-status-files"] });
  const [byUser, byNone] = [await at("user"), await at("any")];
  const portOf = ({ url }: Daemon) => Number(new URL(url).port);
  const socketPath = join(folder, "user", "rollcall.sock");
  const times: Record<"user" | "none" | "own", number[]> = { user: [], none: [], own: [] };
  for (let round = 0; round < roundsOf(20); round += 1) {
    await sleep(APART_MS);
    times.user.push(await call({ port: portOf(byUser) }));
    times.none.push(await call({ port: portOf(byNone) }));
    times.own.push(await call({ socketPath }));
  }
  const [user, none, own] = [best(times.user), best(times.none), best(times.own)];
  report({ name: "a call on a new connection, user unknown", value: none, unit: "ms" });
  const more = user - none;
  report({
    name: "  more where its user is looked up",
    value: more,
    unit: "ms",
    target: { atMost: 10 },
  });
  const saved = own / none;
  report({
    name: "  by the daemon's own socket",
    value: saved,
    unit: "×",
    target: { atMost: 1.2 },
  });
  await Promise.all([byUser.close(), byNone.close()]);
});
conclude();
