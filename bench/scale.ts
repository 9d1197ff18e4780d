/**
 * Does a look cost what it shows, however much there is? The built daemon with 1,000, 10,000 and
 * 100,000 agents, and as many leases and tasks; every route, command and stream is asked by one
 * caller: first alone, for what it costs the thread that decides (processor time, which a busy
 * machine does not change), then while a second caller asks `/healthz` and notes how long it waits.
 *
 * `--sizes 1000,1000000` measures others (a million needs NODE_OPTIONS=--max-old-space-size=8192);
 * `--quick` leaves out the largest and half of the rounds; `--write` puts the tables into
 * docs/performance.md.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { percentile } from "./churn/probe.ts";
import { exponentOf } from "./scale/curve.ts";
import { fill } from "./scale/fill.ts";
import { looksOf, type Growth } from "./scale/looks.ts";
import { writeTables } from "./scale/tables.ts";
import { conclude, inTemporaryFolder, isQuick, median, report, roundsOf } from "./measure.ts";
import { Daemon } from "./shared/daemon.ts";

const { values: flags } = parseArgs({
  options: {
    quick: { type: "boolean" },
    write: { type: "boolean", default: false },
    sizes: { type: "string", default: isQuick ? "1000,10000" : "1000,10000,100000" },
  },
});
const SIZES = flags.sizes.split(",").map(Number);
const WARM_UP = 20;
const ROUNDS = 30;
/** The probe asks so often. */
const PROBE_MS = 4;
const SETTLE_SECONDS = 180;
const MIB = 1024 * 1024;

export interface Measure {
  readonly name: string;
  readonly growth: Growth;
  /** Of the thread that decides; where nobody tells, the time that it took. */
  readonly cpuMs: number;
  readonly ms: number;
  /** The longest that the other caller waited meanwhile. */
  readonly waitMs: number;
}

export interface Measured {
  readonly size: number;
  readonly readyMs: number;
  readonly rssMib: number;
  /** The longest that the other caller waited while nothing was asked. */
  readonly restMs: number;
  readonly measures: readonly Measure[];
}

/** Asks all the time; gives how long each took. */
class Probe {
  readonly #url: string;
  readonly #times: number[] = [];
  #isOver = false;
  readonly #running: Promise<void>;

  constructor(url: string) {
    this.#url = `${url}/healthz`;
    this.#running = this.#run();
  }

  async stop(): Promise<readonly number[]> {
    this.#isOver = true;
    await this.#running;
    return this.#times;
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      const startMs = performance.now();
      await (await fetch(this.#url)).text();
      this.#times.push(performance.now() - startMs);
      await sleep(PROBE_MS);
    }
  }
}

async function untilQuiet(daemon: Daemon): Promise<void> {
  const spent = async () => (await daemon.metrics()).get("process_cpu_seconds_total") ?? NaN;
  let before = await spent();
  for (let second = 0; second < SETTLE_SECONDS; second += 1) {
    await sleep(1000);
    const after = await spent();
    if (after - before < 0.1) return;
    before = after;
  }
}

async function measure(size: number): Promise<Measured> {
  return inTemporaryFolder(async (folder) => {
    const samples = await fill(folder, size);
    const startMs = performance.now();
    const daemon = await Daemon.start(folder, { flags: ["--no-status-files"] });
    const readyMs = performance.now() - startMs;
    try {
      await untilQuiet(daemon);
      const rest = new Probe(daemon.url);
      await sleep(1_000);
      const restMs = Math.max(...(await rest.stop()));
      const measures: Measure[] = [];
      for (const { name, growth, ask } of looksOf(samples)) {
        const askAgain = async () => {
          const askedMs = performance.now();
          await ask(daemon.url);
          return performance.now() - askedMs;
        };
        // The first ones build what is kept, and compile.
        for (let round = 0; round < roundsOf(WARM_UP); round += 1) await askAgain();
        const costs: number[] = [];
        const times: number[] = [];
        for (let round = 0; round < roundsOf(ROUNDS); round += 1) {
          const before = daemon.cpuMs();
          const tookMs = await askAgain();
          const cpuMs = daemon.cpuMs() - before;
          times.push(tookMs);
          costs.push(Number.isNaN(cpuMs) ? tookMs : cpuMs);
        }
        const probe = new Probe(daemon.url);
        for (let round = 0; round < roundsOf(ROUNDS); round += 1) await askAgain();
        const waitMs = percentile(await probe.stop(), 0.999);
        measures.push({ name, growth, cpuMs: median(costs), ms: median(times), waitMs });
      }
      const metrics = await daemon.metrics();
      const rssMib = (metrics.get("process_resident_memory_bytes") ?? NaN) / MIB;
      return { size, readyMs, rssMib, restMs, measures };
    } finally {
      await daemon.close();
    }
  });
}

const all: Measured[] = [];
for (const size of SIZES) {
  const measured = await measure(size);
  all.push(measured);
  const { readyMs, rssMib, restMs } = measured;
  const about = `with ${size.toLocaleString("en")} agents, leases and tasks`;
  report({ name: `ready ${about}`, value: readyMs, unit: "ms" });
  report({ name: `memory ${about}`, value: rssMib, unit: "MiB" });
  report({ name: `longest wait at rest ${about}`, value: restMs, unit: "ms" });
  const worst = measured.measures.toSorted((a, b) => b.waitMs - a.waitMs)[0];
  const atMost = Math.max(50, 3 * restMs);
  report({
    name: `longest wait ${about}, during ${worst?.name ?? "nothing"}`,
    value: worst?.waitMs ?? NaN,
    unit: "ms",
    target: { atMost },
  });
}
const last = all.at(-1);
for (const { name, growth, cpuMs } of last?.measures ?? []) {
  const points = all.flatMap(({ size, measures }) => {
    const found = measures.find((each) => each.name === name);
    return found ? [{ size, value: found.cpuMs }] : [];
  });
  report({ name, value: cpuMs, unit: "ms of CPU" });
  report({
    name: `  ${name}: growth`,
    value: exponentOf(points),
    unit: "",
    ...(growth === "none" && { target: { atMost: 0.1 } }),
  });
}
if (flags.write) writeTables(all);
conclude();
