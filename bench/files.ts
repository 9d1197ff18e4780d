/**
 * Status files against the peer, on the same directories, in turns; and what it costs to watch ten
 * thousand of them while nothing happens. `--quick` is without the peer and without watching.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SCHEMA_VERSION, type Status } from "../src/status.ts";
import { provide } from "../scripts/prerequisites.mjs";
import { Daemon } from "./shared/daemon.ts";
import { conclude, inTemporaryFolder, inTurns, isQuick, report } from "./measure.ts";

// A machine-wide certificate bundle costs Node 20 most of its start; it is not ours to measure.
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
const NODE = process.execPath;
const OURS = [NODE, "dist/bin/agent-status.cjs"];
const PEER = [".cache/venv/agent-status/bin/python", "-m", "agent_status"];

/** Until all were read, found silent after a minute, and what that left was collected. */
const SETTLE_MS = 130_000;
/** One rescan falls into it, and the collection of what it leaves, wherever it begins. */
const IDLE_MS = 120_000;

/** Runs a second, by the median of a few. */
function runOf(command: readonly string[], runs: number): () => Promise<number> {
  return () =>
    inTemporaryFolder(async (folder) => {
      const file = join(folder, "timings.json");
      const flags = ["--shell=none", "--style=none", "--warmup=1", `--runs=${runs}`];
      const args = [...flags, `--export-json=${file}`, command.join(" ")];
      const { status } = spawnSync("hyperfine", args, { env, stdio: "ignore" });
      if (status !== 0) throw new Error(`${command.join(" ")} ended with an error`);
      const timings = JSON.parse(readFileSync(file, "utf8")) as Timings;
      return 1 / (timings.results[0]?.median ?? NaN);
    });
}

interface Timings {
  /** In seconds. */
  readonly results: readonly { readonly median: number }[];
}

function fill(directory: string, count: number, pid?: number): void {
  mkdirSync(directory);
  const now = `${new Date().toISOString().slice(0, 19)}Z`;
  for (let i = 0; i < count; i += 1) {
    const status: Status = {
      schema_version: SCHEMA_VERSION,
      agent_id: `claude-${i.toString(16).padStart(8, "0")}`,
      agent_name: "claude-code",
      runtime: { lifecycle: "running", updated_at: now, last_activity_at: now, pid: pid ?? i + 1 },
      goal: { summary: `Make scheduler ${i} fair`, updated_at: now, source: "initial-prompt" },
      task: { state: "working", summary: "refactor its tests", status_timestamp: now },
    };
    writeFileSync(join(directory, `${status.agent_id}.json`), JSON.stringify(status));
  }
}

interface Race {
  readonly name: string;
  readonly args: readonly string[];
  readonly rounds: number;
  /** Of one round; the peer takes seconds for the longest. */
  readonly runs: number;
  /** How many times as fast as the peer. */
  readonly atLeast: number;
}

async function race({ name, args, rounds, runs, atLeast }: Race): Promise<void> {
  const [ours = 0, peer] = await inTurns(
    rounds,
    runOf([...OURS, ...args], runs),
    ...(isQuick ? [] : [runOf([...PEER, ...args], runs)]),
  );
  report({ name: `${name}, ours`, value: 1000 / ours, unit: "ms" });
  if (peer === undefined) return;
  report({ name: `${name}, against the peer`, value: ours / peer, unit: "×", target: { atLeast } });
}

const missing = provide(isQuick ? ["hyperfine"] : ["hyperfine", "agent-status"]);
if (missing.length > 0) throw new Error(`this needs ${missing.map(({ name }) => name).join(", ")}`);

await inTemporaryFolder(async (folder) => {
  const who = ["--agent-id", "a", "--agent-name", "pi", "--lifecycle", "running"];
  const emitting = ["emit", ...who, "--status-dir", join(folder, "emitted")];
  await race({ name: "emit", args: emitting, rounds: 5, runs: 5, atLeast: 2 });
  const [bare = 0, emit = 0] = await inTurns(
    5,
    runOf([NODE, "-e", "0"], 5),
    runOf([...OURS, ...emitting], 5),
  );
  report({ name: "emit, against bare node", value: bare / emit, unit: "×" });
  for (const [count, rounds, runs, atLeast] of [
    [10, 5, 5, 2],
    [1_000, 5, 3, 12],
    [10_000, 5, 1, 30],
  ] as const) {
    const directory = join(folder, String(count));
    fill(directory, count);
    const args = ["list", "--status-dir", directory];
    await race({ name: `list of ${count}`, args, rounds, runs, atLeast });
  }
  if (!isQuick) await watchIdly(folder);
});

/** All of them alive by their process, which is looked for again and again. */
async function watchIdly(folder: string): Promise<void> {
  const directory = join(folder, "watched");
  fill(directory, 10_000, process.pid);
  const flags = ["--status-dir", directory];
  const daemon = await Daemon.start(join(folder, "state"), { flags });
  const spentSeconds = async () => (await daemon.metrics()).get("process_cpu_seconds_total") ?? NaN;
  try {
    await sleep(SETTLE_MS);
    const before = await spentSeconds();
    await sleep(IDLE_MS);
    const share = (((await spentSeconds()) - before) * 1000 * 100) / IDLE_MS;
    report({
      name: "a daemon that watches 10,000 files, idle",
      value: share,
      unit: "% of a core",
      target: { atMost: 1 },
    });
  } finally {
    await daemon.close();
  }
}

conclude();
