/**
 * The ARCP runtime under load, everything on disk before anybody hears of it: against the Python
 * runtime with its file and without one, and against a bare `ws` server that sends canned frames.
 * One load client for all, in turns, in one run. `--quick` is without the Python runtime.
 */
import { join } from "node:path";
// tidy-allow sleep: how much is done meanwhile is what is looked at
import { setTimeout as sleep } from "node:timers/promises";
import { provide } from "../scripts/prerequisites.mjs";
import type { Load, Measured } from "./arcp/load.ts";
import { BareCommits } from "./shared/bare-commits.ts";
import {
  Loader,
  startBare,
  startOurs,
  startPeer,
  type Runtime,
  type Server,
} from "./arcp/programs.ts";
import { conclude, inTemporaryFolder, isQuick, median, report, roundsOf } from "./measure.ts";

const ROUNDS = 3;
const IDLE_SESSIONS = 10_000;
/** Snapshots, and the sweeps after them, are done when so little of a core was used. */
const QUIET = { overMs: 500, cpuUs: 20_000, tries: 60 };
/** Opened before, so that what comes once is not counted. */
const FIRST_SESSIONS = 500;

/** Many small jobs. */
const JOBS = { agent: "echo", eventsPerJob: 1, sessions: 32, jobsAtOnce: 16 };
/** Few jobs that say much. */
const EVENTS = { agent: "chatty", eventsPerJob: 1000, sessions: 8, jobsAtOnce: 2 };
/** One job after the other: how long it takes when nothing else is to do. */
const ALONE = { agent: "echo", eventsPerJob: 1, sessions: 1, jobsAtOnce: 1 };
const SUBMITTED_MS = 2_000;

type Workload = Omit<Load, "kind" | "url" | "submittedMs">;

if (!isQuick && provide(["arcp-sdk"]).length > 0) throw new Error("this needs the ARCP SDK");

await inTemporaryFolder(async (folder) => {
  await using loader = new Loader();
  {
    await using ours = await startOurs(join(folder, "ours.db"));
    await using file = isQuick ? undefined : await startPeer(join(folder, "peer.db"));
    await using memory = isQuick ? undefined : await startPeer();
    await using bare = await startBare();
    const servers = { ours, file, memory, bare };
    const jobs = await inTurns(loader, servers, JOBS);
    compare("jobs", ratesOf(jobs, "jobsPerSecond"), 8);
    latency("submit to accepted, all of them at work", jobs);
    const events = await inTurns(loader, servers, EVENTS);
    compare("events", ratesOf(events, "eventsPerSecond"), 40);
    await untilQuiet(ours);
    await alone(loader, servers, join(folder, "commit.db"));
  }
  await idle(loader, join(folder, "idle.db"));
});
conclude();

function compare(what: string, { ours, file, memory, bare }: Servers<number>, times: number): void {
  report({ name: `${what}, durable`, value: ours, unit: "/s" });
  const against = (name: string, theirs: number | undefined, atLeast: number) => {
    if (theirs === undefined) return;
    report({ name: `  ${name}`, value: theirs, unit: "/s" });
    report({ name: "    against it", value: ours / theirs, unit: "×", target: { atLeast } });
  };
  against("the peer with its file", file, times);
  against("the peer in memory", memory, 1);
  against("bare ws, canned frames", bare, 0.4);
}

function ratesOf({ ours, file, memory, bare }: Medians, rate: keyof Measured): Servers<number> {
  return { ours: ours[rate], file: file?.[rate], memory: memory?.[rate], bare: bare[rate] };
}

function latency(name: string, { ours, file, memory }: Medians): void {
  const atMost = Math.min(file?.p99Ms ?? Infinity, memory?.p99Ms ?? Infinity);
  const target = file && memory ? { target: { atMost } } : {};
  report({ name: `${name}, p99`, value: ours.p99Ms, unit: "ms", ...target });
  report({ name: "  p50", value: ours.p50Ms, unit: "ms" });
  if (!file || !memory) return;
  report({ name: "  the peer with its file, p99", value: file.p99Ms, unit: "ms" });
  report({ name: "  the peer in memory, p99", value: memory.p99Ms, unit: "ms" });
}

/** The peer answers before its disk; we do not, so one bare commit is what ours may take twice. */
async function alone(loader: Loader, servers: Servers<Server>, path: string): Promise<void> {
  using commits = await BareCommits.open(path);
  const bare: number[] = [];
  const between = () => void bare.push(commits.p99Ms());
  const { ours, file } = await inTurns(loader, servers, { ...ALONE, between });
  const name = "submit to accepted, one job at a time";
  const peer = file ? { target: { atMost: file.p50Ms } } : {};
  report({ name: `${name}, p50`, value: ours.p50Ms, unit: "ms", ...peer });
  if (file) report({ name: "  the peer with its file, p50", value: file.p50Ms, unit: "ms" });
  const floor = median(bare);
  report({ name: `${name}, p99`, value: ours.p99Ms, unit: "ms", target: { atMost: 2 * floor } });
  report({ name: "  bare SQLite commit, synced, p99", value: floor, unit: "ms" });
  if (file) report({ name: "  the peer with its file, p99", value: file.p99Ms, unit: "ms" });
}

/** The loads before left work behind, which a job that is alone is not to wait for. */
async function untilQuiet(runtime: Runtime): Promise<void> {
  const { overMs, cpuUs, tries } = QUIET;
  for (let left = tries; left > 0; left -= 1) {
    const before = runtime.cpuUs();
    await sleep(overMs);
    if (runtime.cpuUs() - before < cpuUs) return;
  }
  throw new Error("the runtime did not come to rest");
}

/** What a session costs that is open and says nothing: its socket, its stream and its record. */
async function idle(loader: Loader, path: string): Promise<void> {
  await using runtime = await startOurs(path);
  await loader.open(runtime.url, FIRST_SESSIONS);
  const before = await runtime.usage();
  await loader.open(runtime.url, IDLE_SESSIONS);
  const after = await runtime.usage();
  const bytes = (after.residentBytes - before.residentBytes) / IDLE_SESSIONS;
  report({
    name: `memory per idle session, ${IDLE_SESSIONS} open`,
    value: bytes / 1000,
    unit: "KB",
    target: { atMost: 25 },
  });
}

interface Servers<Each> {
  readonly ours: Each;
  /** The peers, if there is time for them. */
  readonly file: Each | undefined;
  readonly memory: Each | undefined;
  readonly bare: Each;
}

type Medians = Servers<Measured>;

/** The median of each, all run in turns; the first round warms up. */
async function inTurns(
  loader: Loader,
  servers: Servers<Server>,
  { between, ...workload }: Workload & { readonly between?: () => void },
): Promise<Medians> {
  const { ours, file, memory, bare } = servers;
  const all = new Map<Server, Measured[]>();
  for (let round = 0; round <= roundsOf(ROUNDS); round += 1) {
    for (const server of [ours, file, memory, bare]) {
      if (!server) continue;
      const { url } = server;
      const measured = await loader.measure({ ...workload, url, submittedMs: SUBMITTED_MS });
      if (round > 0) all.set(server, [...(all.get(server) ?? []), measured]);
    }
    between?.();
  }
  const of = (server: Server) => mid(all.get(server) ?? []);
  return { ours: of(ours), file: file && of(file), memory: memory && of(memory), bare: of(bare) };
}

function mid(all: readonly Measured[]): Measured {
  return {
    jobsPerSecond: median(all.map(({ jobsPerSecond }) => jobsPerSecond)),
    eventsPerSecond: median(all.map(({ eventsPerSecond }) => eventsPerSecond)),
    p50Ms: median(all.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(all.map(({ p99Ms }) => p99Ms)),
  };
}
