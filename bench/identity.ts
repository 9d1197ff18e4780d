/**
 * What it costs to know the unix user of a caller: by the look-up alone, with few connections on
 * this machine and with ten thousand, and by the doors of the built daemon. The promises are those
 * of docs/security.md: a lone caller does not notice, a crowd shares one read, nothing of it stands
 * still meanwhile, and our own clients, which use the socket, have no part in it.
 *
 * Neighbours that keep the processor busy are not ours to measure, and a wait by the clock is
 * theirs as much as ours. So what counts is processor time, of all threads, in the look-up and the
 * kernel: a caller that is alone waits for no more than that. The clock is told beside it.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { peerOf } from "../src/identity/caller.ts";
import { readConnections, type ConnectionEnds } from "../src/identity/connections.ts";
import { PeerUsers } from "../src/identity/peer-users.ts";
import { systemClock as clock } from "../src/machine/clock.ts";
import { longestTurnMs } from "../test/support/machine/turns.ts";
import { Daemon } from "./shared/daemon.ts";
import { conclude, inTemporaryFolder, median, report, roundsOf } from "./measure.ts";

const CROWD = 10_000;
/** More would come at once than go on for ever: see PeerUsers. */
const APART_MS = 120;

async function crowdAt(port: number, count: number): Promise<ChildProcess> {
  const child = fork("bench/identity/crowd.mjs", [String(port), String(count)]);
  await once(child, "message");
  return child;
}

interface Cost {
  /** Of this process: all of its threads, and the kernel's work for them. */
  readonly cpuMs: number;
  readonly clockMs: number;
}

async function costOf(run: () => Promise<unknown>): Promise<Cost> {
  const startMs = performance.now();
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / 1e3, clockMs: performance.now() - startMs };
}

function medianOf(costs: readonly Cost[]): Cost {
  return {
    cpuMs: median(costs.map(({ cpuMs }) => cpuMs)),
    clockMs: median(costs.map(({ clockMs }) => clockMs)),
  };
}

/** What was promised is judged by processor time; the clock belongs to it. */
function reportCost(name: string, { cpuMs, clockMs }: Cost, atMost: number): void {
  report({ name, value: cpuMs, unit: "ms", target: { atMost } });
  report({ name: "  by the clock", value: clockMs, unit: "ms" });
}

/** A call on a connection of its own. */
async function call(where: { readonly port: number } | { readonly socketPath: string }) {
  const asked = request({ ...where, host: "127.0.0.1", path: "/v1/status", agent: false }).end();
  const [answer] = (await once(asked, "response")) as [
    NodeJS.ReadableStream & { statusCode: number },
  ];
  if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`);
  await once(answer.resume(), "end");
}

// First: connections of the crowd stand in the tables for a minute after their end.
await inTemporaryFolder(async (folder) => {
  const at = async (trust: string) =>
    Daemon.start(join(folder, trust), { flags: ["--local-trust", trust, "--no-status-files"] });
  const [byUser, byNone] = [await at("user"), await at("any")];
  const portOf = ({ url }: Daemon) => Number(new URL(url).port);
  const socketPath = join(folder, "user", "rollcall.sock");
  /** What a call costs the daemon. */
  const costAt = async (daemon: Daemon, ...where: Parameters<typeof call>): Promise<Cost> => {
    const [beforeMs, startMs] = [daemon.allCpuMs(), performance.now()];
    await call(...where);
    return { cpuMs: daemon.allCpuMs() - beforeMs, clockMs: performance.now() - startMs };
  };
  const costs: Record<"user" | "none" | "own", Cost[]> = { user: [], none: [], own: [] };
  for (let round = 0; round < roundsOf(40); round += 1) {
    await sleep(APART_MS);
    costs.user.push(await costAt(byUser, { port: portOf(byUser) }));
    costs.none.push(await costAt(byNone, { port: portOf(byNone) }));
    costs.own.push(await costAt(byUser, { socketPath }));
  }
  const [user, none, own] = [medianOf(costs.user), medianOf(costs.none), medianOf(costs.own)];
  report({ name: "a call on a new connection, user unknown", value: none.cpuMs, unit: "ms" });
  const more = { cpuMs: user.cpuMs - none.cpuMs, clockMs: user.clockMs - none.clockMs };
  reportCost("  more where its user is looked up", more, 10);
  report({
    name: "  by the daemon's own socket",
    value: own.cpuMs / none.cpuMs,
    unit: "×",
    target: { atMost: 1.2 },
  });
  await Promise.all([byUser.close(), byNone.close()]);
});
const accepted: Socket[] = [];
const server = createServer((socket) => accepted.push(socket.on("error", () => undefined)));
server.listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo;

async function endsOf(count: number): Promise<readonly ConnectionEnds[]> {
  while (accepted.length < count) await sleep(10);
  return accepted.slice(0, count).flatMap((socket) => peerOf(socket).ends ?? []);
}

/** Callers that come one at a time. */
async function loneCost(ends: ConnectionEnds): Promise<Cost> {
  const users = new PeerUsers({ clock });
  const costs: Cost[] = [];
  for (let round = 0; round < roundsOf(20); round += 1) {
    await sleep(APART_MS);
    costs.push(await costOf(() => users.userOf(ends)));
  }
  return medianOf(costs);
}

const first = await crowdAt(port, 1);
const [lone] = await endsOf(1);
if (!lone) throw new Error("the connection has no ends");
reportCost("a lone connection waits, processor time", await loneCost(lone), 10);

const rest = await crowdAt(port, CROWD - 1);
const all = await endsOf(CROWD);
reportCost(`a lone connection waits with ${CROWD} open`, await loneCost(lone), 200);

const turns: number[] = [];
for (let round = 0; round < roundsOf(10); round += 1) {
  const users = new PeerUsers({ clock });
  turns.push(await longestTurnMs(() => users.userOf(lone)));
}
report({
  name: "  meanwhile the loop stands still at most, processor time",
  value: median(turns),
  unit: "ms",
  target: { atMost: 5 },
});

async function burst(): Promise<void> {
  const users = new PeerUsers({ clock });
  const uids = await Promise.all(all.map((ends) => users.userOf(ends)));
  if (uids.some((uid) => uid !== process.getuid?.())) throw new Error("a user is not ours");
}

const bursts: Cost[] = [];
for (let round = 0; round < roundsOf(10); round += 1) bursts.push(await costOf(burst));
// 50 µs each.
reportCost(`${CROWD} connections at once wait`, medianOf(bursts), CROWD * 0.05);

let reads = 0;
const users = new PeerUsers({
  clock,
  read(asked) {
    reads += 1;
    return readConnections(asked);
  },
});
const lookups: Promise<unknown>[] = [];
const { clockMs } = await costOf(async () => {
  for (let i = 0; i < 500; i += 1) {
    lookups.push(users.userOf(lone));
    await sleep(5);
  }
  await Promise.all(lookups);
});
// Ten are there for a start.
const perSecond = (Math.max(0, reads - 10) / clockMs) * 1000;
report({
  name: "reads a second, for 200 that come",
  value: perSecond,
  unit: "",
  target: { atMost: 10 },
});

for (const child of [first, rest]) child.disconnect();
server.close();

conclude();
