/** One size: what each look costs, and how long another caller waits meanwhile. */
import { setTimeout as sleep } from "node:timers/promises";
import { Caller } from "../churn/caller.ts";
import { inTemporaryFolder, median, percentile, roundsOf } from "../measure.ts";
import { Daemon } from "../shared/daemon.ts";
import { fill, HEAP_FLAGS, type Filling } from "./fill.ts";
import { looksOf, type Growth, type Look } from "./looks.ts";

const WARM_UP = 20;
const ROUNDS = 30;
/** The probe asks so often. */
const PROBE_MS = 4;
/** So long each look is repeated beside the probe, and so long the probe asks alone before. */
const PROBED_MS = 1_000;
const SETTLE_SECONDS = 180;
/** From so many on, a daemon needs more heap than Node takes by itself. */
const LARGE = 500_000;
const MIB = 1024 * 1024;

export interface Measure {
  readonly name: string;
  readonly growth: Growth;
  /** Of the thread that decides; where nobody tells, the time that it took. */
  readonly cpuMs: number;
  readonly ms: number;
  /** What the other caller waited meanwhile: all but one in a thousand, and the longest. */
  readonly waitMs: number;
  readonly longestMs: number;
}

export interface Measured {
  readonly size: number;
  readonly readyMs: number;
  readonly rssMib: number;
  /** The longest that the other caller waited while nothing was asked, for as long. */
  readonly restMs: number;
  /** As the daemon itself tells: its latest turn, garbage collection apart. */
  readonly loopDelayMs: number;
  readonly gcMs: number;
  readonly gcCount: number;
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

export async function untilQuiet(daemon: Daemon): Promise<void> {
  const spent = async () => (await daemon.metrics()).get("process_cpu_seconds_total") ?? NaN;
  let before = await spent();
  for (let second = 0; second < SETTLE_SECONDS; second += 1) {
    await sleep(1000);
    const after = await spent();
    if (after - before < 0.1) return;
    before = after;
  }
  throw new Error(`the daemon was not done after ${SETTLE_SECONDS} s`);
}

/** Agents alone: how soon a daemon is ready, and what memory it takes. */
export function measureAgents(size: number): Promise<{ readyMs: number; rssMib: number }> {
  return withDaemon({ agents: size, nouns: false }, async (daemon) => {
    await untilQuiet(daemon);
    return { readyMs: daemon.readyMs, rssMib: await rssMibOf(daemon) };
  });
}

export function measure(size: number): Promise<Measured> {
  return withDaemon({ agents: size, nouns: true }, async (daemon, samples) => {
    const caller = new Caller(daemon.port);
    await untilQuiet(daemon);
    const before = await daemon.metrics();
    const [measures, rests, delays]: [Measure[], number[], number[]] = [[], [], []];
    for (const look of looksOf({ url: daemon.url, caller }, samples)) {
      rests.push(Math.max(...(await probed(daemon.url, () => sleep(PROBED_MS)))));
      measures.push(await measureLook(daemon, look));
      const delay = (await daemon.metrics()).get('rollcall_loop_delay_seconds{quantile="0.999"}');
      delays.push((delay ?? NaN) * 1000);
    }
    caller.close();
    const after = await daemon.metrics();
    return {
      size,
      readyMs: daemon.readyMs,
      rssMib: await rssMibOf(daemon),
      restMs: Math.max(...rests),
      loopDelayMs: Math.max(...delays),
      gcMs: 1000 * (gcOf(after, "sum") - gcOf(before, "sum")),
      gcCount: gcOf(after, "count") - gcOf(before, "count"),
      measures,
    };
  });
}

async function measureLook(daemon: Daemon, { name, growth, ask }: Look): Promise<Measure> {
  // The first ones build what is kept, and compile.
  for (let round = 0; round < roundsOf(WARM_UP); round += 1) await ask();
  const costs: number[] = [];
  const times: number[] = [];
  for (let round = 0; round < roundsOf(ROUNDS); round += 1) {
    const [beforeMs, askedMs] = [daemon.cpuMs(), performance.now()];
    await ask();
    const tookMs = performance.now() - askedMs;
    const cpuMs = daemon.cpuMs() - beforeMs;
    times.push(tookMs);
    costs.push(Number.isNaN(cpuMs) ? tookMs : cpuMs);
  }
  const waits = await probed(daemon.url, async () => {
    const startMs = performance.now();
    do await ask();
    while (performance.now() - startMs < PROBED_MS);
  });
  return {
    name,
    growth,
    cpuMs: median(costs),
    ms: median(times),
    waitMs: percentile(waits, 0.999),
    longestMs: Math.max(...waits),
  };
}

async function probed(url: string, act: () => Promise<unknown>): Promise<readonly number[]> {
  const probe = new Probe(url);
  await act();
  return probe.stop();
}

function withDaemon<T>(
  filling: Filling,
  use: (daemon: Daemon, samples: Awaited<ReturnType<typeof fill>>) => Promise<T>,
): Promise<T> {
  return inTemporaryFolder(async (folder) => {
    const samples = await fill(folder, filling);
    const nodeFlags = filling.agents >= LARGE ? HEAP_FLAGS : [];
    const daemon = await Daemon.start(folder, { nodeFlags, flags: ["--no-status-files"] });
    try {
      return await use(daemon, samples);
    } finally {
      await daemon.close();
    }
  });
}

async function rssMibOf(daemon: Daemon): Promise<number> {
  return ((await daemon.metrics()).get("process_resident_memory_bytes") ?? NaN) / MIB;
}

/** Of all kinds of collections. */
function gcOf(metrics: ReadonlyMap<string, number>, what: "sum" | "count"): number {
  const name = `nodejs_gc_duration_seconds_${what}`;
  return Array.from(metrics)
    .filter(([each]) => each.startsWith(name))
    .reduce((sum, [, value]) => sum + value, 0);
}
