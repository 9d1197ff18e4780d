/**
 * A large fleet at work: a hundred thousand agents that send heartbeats and a thousand leases a
 * second that come and go, on the built daemon with its state on disk. Does somebody who calls
 * meanwhile notice, does memory stay what it is, and is every lease where it should be?
 *
 * Meanwhile Prometheus scrapes each second, somebody follows the fleet live and somebody uses
 * `find`; and a snapshot of all of it is taken: the log is filled up beforehand so that it falls
 * due then. `--seconds N` measures for less than a minute, and so does `--quick`;
 * `--agents N` and `--leases N` are for machines with less to give. The load is handed out by the
 * clock: one that cannot keep up shows as targets missed, not as less load.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { ENGINE } from "../src/core/limits.ts";
import { LeaseService } from "../src/wires/keeper/gen/agentkeeper/v1/agentkeeper_pb.ts";
import { Caller } from "./churn/caller.ts";
import type { Orders, Tally } from "./churn/load.ts";
import { LookersOn, type Looks } from "./churn/lookers-on.ts";
import { probe, type Times } from "./churn/probe.ts";
import { untilQuiet } from "./scale/measuring.ts";
import { Daemon } from "./shared/daemon.ts";
import { conclude, inTemporaryFolder, isQuick, median, percentile, report } from "./measure.ts";

const { values: flags } = parseArgs({
  options: {
    quick: { type: "boolean" },
    write: { type: "boolean" },
    seconds: { type: "string", default: isQuick ? "20" : "60" },
    agents: { type: "string", default: "100000" },
    leases: { type: "string", default: "1000" },
    /** Each agent is heard twice in this time: 1,667 heartbeats a second, with 30 it is 6,667. */
    ttl: { type: "string", default: "120" },
    /** For `node --cpu-prof` and the like, in the daemon. */
    "node-flags": { type: "string", default: "" },
  },
});
const SECONDS = Number(flags.seconds);
const AGENTS = Number(flags.agents);
const LEASES_PER_SECOND = Number(flags.leases);
const TTL_SECONDS = Number(flags.ttl);
/** Twice in a ttl, as the SDK does. */
const HEARTBEATS_PER_SECOND = AGENTS / (TTL_SECONDS / 2);
/** Until what is compiled is compiled, and caches are what they will be. */
const WARM_UP_SECONDS = 5;
/** As long as the churn: the longest call of a minute is compared with that of a minute. */
const IDLE_SECONDS = SECONDS;
const MIB = 1024 * 1024;

class LoadProcess {
  readonly #child = spawn(process.execPath, ["scripts/run-ts.mjs", "bench/churn/load.ts"], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });

  /** Resolves when it was carried out. */
  async ask<Name extends keyof Orders>(
    name: Name,
    order: Orders[Name]["order"],
  ): Promise<Orders[Name]["answer"]> {
    const answered = once(this.#child, "message");
    const ended = once(this.#child, "exit").then(() => {
      throw new Error("the load ended before it answered");
    });
    this.#child.send([name, order]);
    const [answer] = (await Promise.race([answered, ended])) as [Orders[Name]["answer"]];
    return answer;
  }

  kill(): void {
    this.#child.kill();
  }
}

/** What memory the daemon took, second by second. */
async function sampleMemory(daemon: Daemon, seconds: number) {
  const samples: { readonly rss: number; readonly heap: number }[] = [];
  for (let second = 0; second < seconds; second += 1) {
    await sleep(1000);
    const metrics = await daemon.metrics();
    const rss = metrics.get("process_resident_memory_bytes") ?? NaN;
    const heap = metrics.get("nodejs_heap_size_used_bytes") ?? NaN;
    samples.push({ rss, heap });
  }
  return samples;
}

/** That the load was what it should have been. */
function reportWork(rise: (name: string) => number): void {
  const leases = rise('agentkeeper_rpc_total{method="/agentkeeper.v1.LeaseService/AcquireLease"}');
  report({
    name: "leases a second",
    value: leases / SECONDS,
    unit: "/s",
    target: { atLeast: 0.95 * LEASES_PER_SECOND },
  });
  const heartbeats = rise("rollcall_heartbeats_total") / SECONDS;
  const target = { atLeast: 0.95 * HEARTBEATS_PER_SECOND };
  report({ name: "heartbeats a second", value: heartbeats, unit: "/s", target });
  const snapshots = rise("rollcall_snapshots_total");
  report({ name: "snapshots meanwhile", value: snapshots, unit: "", target: { atLeast: 1 } });
  const cpu = rise("process_cpu_seconds_total") / SECONDS;
  report({ name: "processors the daemon kept busy", value: cpu, unit: "" });
}

/** That those who look on were answered, too. */
function reportLooks({ finds, fleetEvents }: Looks): void {
  const target = { atLeast: 0.5 * SECONDS };
  report({ name: "finds meanwhile", value: finds, unit: "", target });
  report({ name: "changes told on the live fleet", value: fleetEvents, unit: "", target });
}

/** A machine that stops for a moment, for whatever reason, is seen in one window of three. */
const WINDOWS = 3;

async function probeInWindows(port: number, agentId: string, seconds: number): Promise<Times[]> {
  const windows: Times[] = [];
  for (let i = 0; i < WINDOWS; i += 1) windows.push(await probe(port, agentId, seconds / WINDOWS));
  return windows;
}

function reportTimes(idle: readonly Times[], busy: readonly Times[]): void {
  for (const name of idle[0]?.keys() ?? []) {
    const p99 = (windows: readonly Times[]) =>
      median(windows.map((times) => percentile(times.get(name) ?? [], 0.99)));
    const [before, under] = [p99(idle), p99(busy)];
    report({ name: `p99 of ${name}, at rest`, value: before, unit: "ms" });
    report({ name: `p99 of ${name}, under churn`, value: under, unit: "ms" });
    report({
      name: `p99 of ${name}, under churn against at rest`,
      value: under / before,
      unit: "×",
      target: { atMost: 5 },
    });
    const longest = (windows: readonly Times[]) =>
      Math.max(...windows.flatMap((times) => times.get(name) ?? []));
    const atMost = Math.max(100, 3 * longest(idle));
    report({ name: `longest ${name} at rest`, value: longest(idle), unit: "ms" });
    report({
      name: `longest ${name} under churn`,
      value: longest(busy),
      unit: "ms",
      target: { atMost },
    });
  }
}

function reportMemory(samples: Awaited<ReturnType<typeof sampleMemory>>): void {
  const window = Math.min(10, Math.floor(samples.length / 3));
  const [early, late] = [samples.slice(window, 2 * window), samples.slice(-window)];
  const rss = (from: typeof samples) => median(from.map((sample) => sample.rss));
  // The lowest of a window is the heap after a collection, or nearly.
  const heap = (from: typeof samples) => Math.min(...from.map((sample) => sample.heap));
  report({ name: "memory of the daemon at the end", value: rss(late) / MIB, unit: "MiB" });
  const flat = { atMost: 1.05 };
  const grown = rss(late) / rss(early);
  report({ name: "memory at the end against early on", value: grown, unit: "×", target: flat });
  const heapGrown = heap(late) / heap(early);
  report({ name: "heap at the end against early on", value: heapGrown, unit: "×", target: flat });
}

/** Compares what the load remembers with what the daemon knows. */
async function reportState(daemon: Daemon, tally: Tally): Promise<void> {
  const { kept, granted, released, leftToExpire } = tally;
  // What was left to expire needs a second, and the engine's next look.
  await sleep(2500);
  const metrics = await daemon.metrics();
  const caller = new Caller(daemon.port);
  let astray = 0;
  for (const { taskId, agentId, token } of kept) {
    const { acquired, lease } = await caller.call(LeaseService.method.acquireLease, {
      taskId,
      agentId,
      ttlSeconds: 3600,
    });
    if (!acquired || String(lease?.token?.value) !== token) astray += 1;
  }
  caller.close();
  const exactly = (value: number) => ({ target: { atLeast: value, atMost: value }, unit: "" });
  const none = exactly(0);
  report({ name: "calls of the load that failed", value: tally.failed, ...none });
  const alive = metrics.get("agentkeeper_agents_alive") ?? NaN;
  report({ name: "agents alive at the end", value: alive, ...exactly(AGENTS) });
  const held = metrics.get("agentkeeper_leases_active") ?? NaN;
  report({ name: "leases held at the end", value: held, ...exactly(kept.length) });
  report({ name: "leases kept that another has, or nobody", value: astray, ...none });
  const unaccounted = granted - released - leftToExpire - kept.length;
  report({ name: "leases granted that nobody accounts for", value: unaccounted, ...none });
  const doubled = granted - Number(tally.highestToken);
  report({ name: "tokens given twice, or skipped", value: doubled, ...none });
  for (const error of tally.errors) console.log(`     ${error}`);
}

async function measure(folder: string): Promise<void> {
  const load = new LoadProcess();
  let daemon: Daemon | undefined;
  try {
    // Two events for each lease: half-way through there are enough for a snapshot.
    const events = ENGINE.snapshotEveryEvents - SECONDS * LEASES_PER_SECOND;
    const filling = { folder, agents: AGENTS, ttlSeconds: TTL_SECONDS, events };
    const [agentId = ""] = await load.ask("fill", filling);
    const nodeFlags = flags["node-flags"].split(" ").filter((flag) => flag !== "");
    daemon = await Daemon.start(folder, { nodeFlags, flags: ["--no-status-files"] });
    await untilQuiet(daemon);
    const { port } = daemon;
    await probe(port, agentId, WARM_UP_SECONDS);
    const idle = await probeInWindows(port, agentId, IDLE_SECONDS);
    const pace = { leasesPerSecond: LEASES_PER_SECOND, heartbeatsPerSecond: HEARTBEATS_PER_SECOND };
    await load.ask("churn", { port, ...pace });
    const lookers = new LookersOn(daemon.url);
    await probe(port, agentId, WARM_UP_SECONDS);
    const before = await daemon.metrics();
    const [busy, samples] = await Promise.all([
      probeInWindows(port, agentId, SECONDS),
      sampleMemory(daemon, SECONDS),
    ]);
    const after = await daemon.metrics();
    const looks = await lookers.stop();
    const tally = await load.ask("stop", null);
    reportLooks(looks);
    reportWork((name) => (after.get(name) ?? NaN) - (before.get(name) ?? NaN));
    reportTimes(idle, busy);
    reportMemory(samples);
    await reportState(daemon, tally);
  } finally {
    load.kill();
    await daemon?.close();
  }
}

await inTemporaryFolder(measure);
conclude();
