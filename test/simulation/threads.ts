/**
 * Many lives on many threads, told in the order of their seeds: whoever counts and shows them sees
 * what one thread would have shown. A life needs nothing but its seed, and shares nothing.
 *
 *   seeds ──▶ the thread with the least to do ──▶ its reports ──▶ the report of the next seed
 */
import { inspect } from "node:util";
import { parentPort, Worker, workerData } from "node:worker_threads";
import { PLANTS, type Plant } from "./plants.ts";
import { simulate, type Life } from "./simulate.ts";

/** A life that can be sent from one thread to another. */
export interface LifeReport extends Omit<Life, "transcript"> {
  /** Empty for a life that went well, unless it was asked for. */
  readonly transcript: readonly string[];
}

interface ReportOptions {
  readonly plant: Plant | undefined;
  /** Whether the transcript of a life that went well is wanted, too. */
  readonly isShown: boolean;
}

export interface LivesOptions extends ReportOptions {
  readonly threads: number;
  /** What a thread runs: it must call serveLives. */
  readonly program: URL;
}

/** Seeds that wait at each thread, so that none is idle while the oldest life takes long. */
const SEEDS_AHEAD = 16;

export async function* lives(
  seeds: readonly number[],
  options: LivesOptions,
): AsyncGenerator<LifeReport> {
  if (options.threads === 1) {
    const report = reporter(options);
    for (const seed of seeds) yield await report(seed);
    return;
  }
  const threads = Array.from({ length: options.threads }, () => new LivesThread(options));
  const underWay: Promise<LifeReport>[] = [];
  try {
    for (const seed of seeds) {
      const idlest = threads.reduce((a, b) => (b.waiting < a.waiting ? b : a));
      underWay.push(idlest.live(seed));
      if (underWay.length < threads.length * SEEDS_AHEAD) continue;
      const oldest = await underWay.shift();
      if (oldest) yield oldest;
    }
    for (const each of underWay) yield await each;
  } finally {
    await Promise.all(threads.map((thread) => thread.close()));
  }
}

/** In a thread: lives the seeds that it is sent, one after the other. */
export function serveLives(): void {
  const { plant, isShown } = workerData as ThreadData;
  const report = reporter({ plant: PLANTS.find(({ name }) => name === plant), isShown });
  let last = Promise.resolve();
  parentPort?.on("message", (seed: number) => {
    last = last.then(async () => parentPort?.postMessage(await report(seed)));
  });
}

interface ThreadData {
  /** Its name: functions are not sent. */
  readonly plant: string | undefined;
  readonly isShown: boolean;
}

class LivesThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, (report: LifeReport) => void>();

  constructor({ plant, isShown, program }: LivesOptions) {
    const data: ThreadData = { plant: plant?.name, isShown };
    this.#worker = new Worker(program, { workerData: data });
    this.#worker.on("message", (report: LifeReport) => {
      this.#waiting.get(report.seed)?.(report);
      this.#waiting.delete(report.seed);
    });
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  live(seed: number): Promise<LifeReport> {
    return new Promise((resolve) => {
      this.#waiting.set(seed, resolve);
      this.#worker.postMessage(seed);
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** Whatever nobody catches ends the program, and names the seed. */
function reporter({ plant, isShown }: ReportOptions): (seed: number) => Promise<LifeReport> {
  let current = 0;
  process.on("unhandledRejection", (error) => {
    throw new Error(`seed ${current}: nobody caught ${inspect(error)}`);
  });
  return async (seed) => {
    current = seed;
    const life = await simulate(seed, plant);
    const isWanted = isShown || life.failures.length > 0;
    return { ...life, transcript: isWanted ? life.transcript() : [] };
  };
}
