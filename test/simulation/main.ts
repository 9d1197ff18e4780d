/**
 * `npm run sim -- --seeds 1000 [--first N]` lives many lives, `--seed N` lives one again and shows
 * it. Ends with 1 when something was wrong.
 */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { isMainThread } from "node:worker_threads";
import { ENOUGH_LIVES, missing } from "./coverage.ts";
import { KEPT_SEEDS } from "./kept-seeds.ts";
import { PLANTS } from "./plants.ts";
import { tally, type Tally } from "./tally.ts";
import { lives, serveLives, type LifeReport } from "./threads.ts";

const HELP = `Lives whole clusters on virtual time, from seeds, and checks that all holds.

  npm run sim -- --seeds N [--first N]   N lives, from seed 1 or the first given; default 100
  npm run sim -- --seed N [--verbose]    one life again, with its transcript
  npm run sim -- --kept                  the seeds of bugs that were fixed
  --threads N                            on so many threads; default one for each core
  --plant NAME                           with a bug planted: ${PLANTS.map((p) => p.name).join(", ")}
  --verbose                              the whole transcript, not only its end`;

/** How much of a transcript one reads. */
const TAIL_LINES = 60;
/** One failure is worth more than many. */
const MAX_FAILURES = 5;

const { values: flags } = parseArgs({
  options: {
    seeds: { type: "string" },
    first: { type: "string", default: "1" },
    seed: { type: "string" },
    kept: { type: "boolean", default: false },
    plant: { type: "string" },
    threads: { type: "string" },
    verbose: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (!isMainThread) serveLives();
else if (flags.help) console.log(HELP);
else process.exitCode = await run();

async function run(): Promise<number> {
  const plant = PLANTS.find(({ name }) => name === flags.plant);
  if (flags.plant !== undefined && !plant) {
    console.error(`no such plant: ${flags.plant}\n${HELP}`);
    return 2;
  }
  const startedMs = performance.now();
  const total = tally();
  let failed = 0;
  const isShown = flags.seed !== undefined;
  const program = new URL(import.meta.url);
  for await (const life of lives(seeds(), { plant, isShown, threads: threads(), program })) {
    total.add(life);
    if (life.failures.length > 0) failed += 1;
    if (life.failures.length > 0 || isShown) show(life);
    if (failed >= MAX_FAILURES) break;
    progress(total, startedMs);
  }
  summarize(total, failed, (performance.now() - startedMs) / 1000);
  const never = total.lives >= ENOUGH_LIVES && !plant ? missing(total.counts, total.lives) : [];
  if (never.length > 0)
    console.log(`never happened, so nothing was proved of: ${never.join(", ")}`);
  return failed > 0 || never.length > 0 ? 1 : 0;
}

function seeds(): readonly number[] {
  if (flags.kept) return KEPT_SEEDS.map(({ seed }) => seed);
  if (flags.seed !== undefined) return [whole("seed", flags.seed)];
  const first = whole("first", flags.first);
  return Array.from({ length: whole("seeds", flags.seeds ?? "100") }, (_, i) => first + i);
}

/** One is enough for a few lives: a thread first has to load all that it runs. */
function threads(): number {
  if (flags.threads !== undefined) return Math.max(1, whole("threads", flags.threads));
  return flags.kept || flags.seed !== undefined ? 1 : availableParallelism();
}

function whole(name: string, text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  console.error(`--${name} is ${text}, not a whole number`);
  process.exit(2);
}

function show({ seed, failures, transcript }: LifeReport): void {
  console.log(transcript.slice(flags.verbose ? 0 : -TAIL_LINES).join("\n"));
  for (const { invariant, detail } of failures.slice(0, 3)) {
    console.log(`\nseed ${seed} breaks: ${invariant}\n  ${detail}`);
  }
  if (failures.length > 0) console.log(`\nsee it again: npm run sim -- --seed ${seed} --verbose\n`);
}

function progress(total: Tally, startedMs: number): void {
  if (!process.stderr.isTTY && total.lives % 100 !== 0) return;
  const perSecond = (total.lives / ((performance.now() - startedMs) / 1000)).toFixed(1);
  const line = `${total.lives} lives, ${perSecond} a second`;
  process.stderr.write(process.stderr.isTTY ? `\r${line}` : `${line}\n`);
}

function summarize(total: Tally, failed: number, seconds: number): void {
  if (process.stderr.isTTY) process.stderr.write("\n");
  console.log(total.table());
  const hours = (total.virtualMs / 3_600_000).toFixed(1);
  const lived = `${total.lives} lives (${hours} hours, ${total.steps} steps)`;
  console.log(
    `${lived} in ${seconds.toFixed(1)} s: ${failed === 0 ? "all well" : `${failed} failed`}`,
  );
}
