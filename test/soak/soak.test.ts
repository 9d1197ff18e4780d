/**
 * The daemon soaked: honest clients of all wires at work while it is killed, stopped, attacked and
 * left without room on its disk. Then nothing that it acknowledged is lost or there twice, its
 * memory came back after each attack, and /healthz was answered meanwhile.
 *
 * `npm run soak -- --minutes 10` soaks for longer, `--kills 100` only kills.
 */
import { rmSync, writeSync, openSync, closeSync } from "node:fs";
import { join } from "node:path";
// tidy-allow sleep: how long it is stopped, and holds out an attack, is the test
import { setTimeout as pause } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { lacks } from "../../scripts/prerequisites.mjs";
import { MIB } from "../../src/core/units.ts";
import { scratch } from "../e2e/programs.ts";
import { Watched } from "../kill/arcp-watched.ts";
import { Random } from "../simulation/random.ts";
import { mountedFolder } from "../small-disk.ts";
import { ATTACKS } from "./attacks.ts";
import { a2aTurn, grpcTurn, httpTurn, mcpTurn, repeat, type Soak } from "./clients.ts";
import { SoakDaemon } from "./daemon.ts";
import { Health } from "./health.ts";
import { Ledger } from "./ledger.ts";

/** As long as CI has; longer by `npm run soak`. */
const SECONDS = Number(process.env["SOAK_SECONDS"] ?? 30);
/** Where it is set, there is no other trouble. */
const KILLS = Number(process.env["SOAK_KILLS"] ?? 0);
const SEED = Number(process.env["SOAK_SEED"] ?? Date.now() % 1_000_000);

const DISK_MB = 512;
const HEALTHY_MS = 250;
/** A busy machine stretches time, and most for those who work: a bare server takes 5 ms at rest. */
const BUSY = 10;
/**
 * A short soak runs beside other tests: there the clock tells nothing of the daemon, and of so few
 * probes the 99th in a hundred is the third slowest, in the middle of an attack.
 */
const IS_SHORT = process.env["SOAK_SECONDS"] === undefined;
const WORK_MS = IS_SHORT ? 2 * HEALTHY_MS : HEALTHY_MS;
/**
 * What memory may be, of that before, once an attack is over: after so much more honest work, since
 * on a busy machine time alone gives the daemon no turn to let go of anything.
 */
const MEMORY_BACK = 1.2;
const MEMORY_BACK_WORK = 200;
const WAIT_MS = 90_000;

test.skipIf(lacks("cc"))(
  `soaked for ${KILLS > 0 ? `${KILLS} kills` : `${SECONDS} s`}, it loses nothing and answers`,
  { timeout: SECONDS * 1_000 + KILLS * 30_000 + 5 * WAIT_MS },
  async () => {
    const random = new Random(SEED);
    using home = scratch();
    const { folder, isMounted } = mountedFolder(DISK_MB);
    await using daemon = new SoakDaemon(folder, home.path);
    await daemon.start();
    const stop = new AbortController();
    const run = SEED.toString(36);
    const soak: Soak = { daemon, ledger: new Ledger(), run, signal: stop.signal };
    using health = new Health();
    const arcp = await watched(soak);
    const working = [
      ...[httpTurn, grpcTurn, mcpTurn, a2aTurn].map((turn) => repeat(soak, turn(soak))),
      repeat(soak, arcpTurn(soak, arcp)),
    ];
    await health.probe(daemon);
    const counts = await trouble(soak, { random, isMounted });
    stop.abort();
    await Promise.all(working);
    await arcp.done();
    await arcp.close();
    const { p99 } = health;
    say(`${JSON.stringify(counts)} ${JSON.stringify(soak.ledger.byWire)} ${JSON.stringify(p99)}`);
    expect(arcp.faults, `seed ${SEED}`).toEqual([]);
    expect(await soak.ledger.faults(daemon.url), `seed ${SEED}`).toEqual([]);
    expect(Object.keys(soak.ledger.byWire).toSorted()).toEqual(WIRES);
    expect(p99.work).toBeLessThan(WORK_MS);
    if (!IS_SHORT) expect(p99.took).toBeLessThan(HEALTHY_MS + BUSY * p99.bare);
  },
);

const WIRES = ["a2a", "arcp", "grpc", "http", "mcp"];

async function watched({ daemon, run }: Soak): Promise<Watched> {
  const url = `${daemon.url.replace("http", "ws")}/arcp`;
  const client = new Watched({ url, name: run, numbers: 40 });
  await client.connect();
  return client;
}

function arcpTurn({ ledger }: Soak, client: Watched) {
  return async (n: number) => {
    const jobId = await client.submit(n % 2 === 0 ? "phoenix" : "mortal");
    ledger.acknowledged("arcp", `job.submitted ${jobId}`);
  };
}

interface Means {
  readonly random: Random;
  /** Whether its disk may be filled up. */
  readonly isMounted: boolean;
}

/** One trouble after the other, each once the one before it is over and work goes on. */
async function trouble(soak: Soak, { random, isMounted }: Means) {
  const endsAtMs = performance.now() + SECONDS * 1_000;
  const troubles = [
    kill,
    stall,
    ...Object.keys(ATTACKS).map(attackBy),
    ...(isMounted ? [fill] : []),
  ];
  // A short soak begins anywhere, so that each has its turn in the end.
  const first = random.between(0, troubles.length - 1);
  const counts: Record<string, number> = {};
  for (let n = 0; KILLS > 0 ? n < KILLS : performance.now() < endsAtMs; n += 1) {
    await progress(soak, random.between(10, 60));
    const act = KILLS > 0 ? kill : (troubles[(first + n) % troubles.length] ?? kill);
    const name = await act({ soak, random });
    counts[name] = (counts[name] ?? 0) + 1;
    say(`${n + 1}: ${name}, ${soak.ledger.size} acknowledged, ${soak.ledger.refusals} refused`);
  }
  await progress(soak, 20);
  return counts;
}

interface Scene {
  readonly soak: Soak;
  readonly random: Random;
}

async function kill({ soak: { daemon } }: Scene): Promise<string> {
  await daemon.kill();
  await daemon.start();
  return "kill";
}

async function stall({ soak: { daemon }, random }: Scene): Promise<string> {
  daemon.stop();
  await pause(random.between(500, 3_000));
  daemon.resume();
  return "stall";
}

/** The disk is full until somebody was refused for it. */
async function fill({ soak: { daemon, ledger } }: Scene): Promise<string> {
  const path = join(daemon.folder, "ballast");
  const file = openSync(path, "w");
  try {
    for (;;) writeSync(file, Buffer.alloc(MIB));
  } catch {
    // There is no room left.
  } finally {
    closeSync(file);
  }
  const before = ledger.refusals;
  await until(
    () => ledger.refusals > before + 5,
    () => "somebody is refused",
  );
  rmSync(path);
  return "fill";
}

function attackBy(name: string) {
  return async ({ soak }: Scene): Promise<string> => {
    const { daemon } = soak;
    const { task } = await largeTask(daemon.url);
    await progress(soak, 30);
    const before = await daemon.memory();
    const sockets = (await ATTACKS[name]?.({ ...daemon.ports, taskId: task.id })) ?? [];
    await progress(soak, 30);
    for (const socket of sockets) socket.destroy();
    const enough = soak.ledger.size + MEMORY_BACK_WORK;
    for (;;) {
      const now = await daemon.memory();
      const whole = `after ${name}: ${inMib(now)}; before it: ${inMib(before)}`;
      if (now.rss <= before.rss * MEMORY_BACK) {
        say(whole);
        return name;
      }
      if (soak.ledger.size >= enough) throw new Error(whole);
      await progress(soak, 10);
    }
  };
}

async function largeTask(url: string): Promise<{ readonly task: { readonly id: string } }> {
  const body = JSON.stringify({ type: "large", input: "x".repeat(700_000) });
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${url}/v1/tasks/create`, { method: "POST", headers, body });
  return (await answer.json()) as { task: { id: string } };
}

/** Work goes on: so much more was acknowledged. */
async function progress({ ledger }: Soak, more: number): Promise<void> {
  const enough = ledger.size + more;
  await until(
    () => ledger.size >= enough,
    () => `${more} more, after ${ledger.lastRefusal}`,
  );
}

async function until(isSo: () => boolean, what: () => string, withinMs = WAIT_MS): Promise<void> {
  const look = () => {
    if (!isSo()) throw new Error(`waited in vain: ${what()}`);
  };
  await vi.waitFor(look, { timeout: withinMs, interval: 50 });
}

function inMib({ rss, heapUsed, external }: NodeJS.MemoryUsage): string {
  const [all, heap, buffers] = [rss, heapUsed, external].map((bytes) => Math.round(bytes / MIB));
  return `${all} MiB (heap ${heap}, buffers ${buffers})`;
}

function say(text: string): void {
  process.stderr.write(`soak ${SEED}: ${text}\n`);
}
