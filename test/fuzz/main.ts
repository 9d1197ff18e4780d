/**
 * `npm run fuzz`: tries every reader of bytes of others with input that finds its own way (see
 * loop.ts), for as long as is asked. Ends with 1 when something was wrong; the input that did it
 * is then in a file, and `--replay` tries it again.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Random } from "../simulation/random.ts";
import { Coverage } from "./coverage.ts";
import { fuzz, type FuzzResult } from "./loop.ts";
import type { Target } from "./target.ts";
import { Trial, type Failure } from "./trial.ts";

const HELP = `Feeds the readers of bytes of others with input that is guided by the code it runs.

  npm run fuzz                                 every target, 40 s together
  npm run fuzz -- --minutes N                  for longer; what it learns is kept for the next time
  npm run fuzz -- --target NAME[,NAME]         only these; --list names all
  npm run fuzz -- --target NAME --replay FILE  one input again, as a failure left it
  --seed N      the same search again           --blind   without coverage: to compare
  --inputs N    so many inputs for each target, instead of a time`;

const { values: flags } = parseArgs({
  options: {
    minutes: { type: "string" },
    seconds: { type: "string", default: "40" },
    inputs: { type: "string" },
    target: { type: "string" },
    replay: { type: "string" },
    seed: { type: "string" },
    blind: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

/** Learnt inputs and those that failed: kept between runs, and no part of the repository. */
const KEPT = resolve(".cache/fuzz");
/** As many learnt inputs of a target as are begun with. */
const MAX_LEARNT = 500;

if (flags.help) console.log(HELP);
else process.exitCode = await run();

async function run(): Promise<number> {
  // Code is counted when it is loaded after this.
  using coverage = new Coverage((url) => !url.startsWith("node:") && url !== import.meta.url);
  const { PLANTED, TARGETS } = await import("./targets.ts");
  if (flags.list) {
    console.log(TARGETS.map(({ name }) => name).join("\n"));
    return 0;
  }
  const names = flags.target?.split(",");
  const targets = [...TARGETS, PLANTED].filter(({ name }) =>
    names ? names.includes(name) : name !== PLANTED.name,
  );
  if (names && targets.length !== names.length) {
    console.error(`--target takes some of: ${TARGETS.map(({ name }) => name).join(", ")}`);
    return 2;
  }
  if (flags.replay !== undefined) return replay(targets, flags.replay);
  return search(targets, coverage);
}

function replay(targets: readonly Target[], file: string): number {
  const input = readFileSync(file);
  const failures = targets.flatMap((target) => new Trial(target).all([input]) ?? []);
  for (const { target, kind, what } of failures) console.error(`${target}: ${kind}: ${what}`);
  if (failures.length === 0) console.log(`${file}: nothing is wrong with it`);
  return failures.length > 0 ? 1 : 0;
}

function search(targets: readonly Target[], coverage: Coverage): number {
  const seed = whole("seed") ?? Date.now() % 2 ** 31;
  const seconds = (whole("minutes") ?? 0) * 60 || (whole("seconds") ?? 0);
  const inputs = whole("inputs");
  const shareMs = (seconds * 1_000) / targets.length;
  let failed = 0;
  for (const target of targets) {
    const endsAtMs = performance.now() + shareMs;
    const started = { ...target, seeds: [...target.seeds, ...learnt(target)] };
    const result = fuzz(started, {
      random: new Random(seed),
      ...(!flags.blind && { coverage }),
      isEnough: (count) => (inputs === undefined ? performance.now() >= endsAtMs : count >= inputs),
    });
    if (inputs === undefined) keep(target, result.corpus.slice(started.seeds.length));
    console.log(lineOf(target, started.seeds.length, result));
    if (!result.failure) continue;
    failed += 1;
    show(result.failure, seed);
  }
  const verdict = failed === 0 ? "all well" : `${failed} failed`;
  console.log(`${targets.length} targets, seed ${seed}: ${verdict}`);
  return failed > 0 ? 1 : 0;
}

function lineOf({ name }: Target, seeds: number, { inputs, corpus, failure }: FuzzResult): string {
  const found = `${corpus.length - seeds} new ways`;
  return `${failure ? "FAILED" : "ok    "} ${name}: ${inputs} inputs, ${seeds} seeds, ${found}`;
}

function show({ target, input, kind, what }: Failure, seed: number): void {
  const file = join(folder("failures"), `${target}-${digest(input)}`);
  writeFileSync(file, input);
  console.error(`${kind} of ${target}, seed ${seed}, ${input.length} bytes: ${what}`);
  console.error(`see it again: npm run fuzz -- --target ${target} --replay ${file}`);
}

function learnt({ name }: Target): readonly Buffer[] {
  const place = folder(`corpus/${name}`);
  return readdirSync(place)
    .slice(0, MAX_LEARNT)
    .map((file) => readFileSync(join(place, file)));
}

function keep({ name }: Target, inputs: readonly Buffer[]): void {
  const place = folder(`corpus/${name}`);
  for (const input of inputs) writeFileSync(join(place, digest(input)), input);
}

function folder(name: string): string {
  const path = join(KEPT, name);
  mkdirSync(path, { recursive: true });
  return path;
}

function digest(input: Buffer): string {
  return createHash("sha256").update(input).digest("hex").slice(0, 16);
}

function whole(name: "minutes" | "seconds" | "inputs" | "seed"): number | undefined {
  const text = flags[name];
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  console.error(`--${name} is ${text}, not a whole number`);
  process.exit(2);
}
