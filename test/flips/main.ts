/** `npm run flips`: flips bits of files that the daemon wrote, and says what came of each. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Random } from "../simulation/random.ts";
import { flips, judge, type Outcome } from "./flips.ts";
import { live } from "./life.ts";

const HELP = `Flips single bits of a database, its write-ahead log, a snapshot and a backup.
Each has to be harmless or refused with its place; none may be believed.

  npm run flips -- --count N   so many bits; default 200
  --seed N      the same bits again
  --only large  of large files alone      --verbose   says what came of each`;

const { values: flags } = parseArgs({
  options: {
    help: { type: "boolean", default: false },
    count: { type: "string", default: "200" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    only: { type: "string", default: "" },
    verbose: { type: "boolean", default: false },
  },
});

if (flags.help) {
  console.log(HELP);
  process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), "rollcall-flips-"));
try {
  process.exitCode = await run();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function run(): Promise<number> {
  console.log(`seed ${flags.seed}`);
  const lives = await live(folder, true);
  const random = new Random(flags.seed);
  const counts = new Map<string, Record<Outcome["kind"], number>>();
  let believed = 0;
  const plan = { random, count: Number(flags.count), only: flags.only };
  for (const flip of flips(lives, plan)) {
    const outcome = await judge(lives, flip, join(folder, "flipped"));
    const count = counts.get(flip.target) ?? { harmless: 0, refused: 0, believed: 0 };
    counts.set(flip.target, { ...count, [outcome.kind]: count[outcome.kind] + 1 });
    if (outcome.kind === "believed") believed += 1;
    if (flags.verbose || outcome.kind === "believed") console.log(flip, outcome);
  }
  console.table(Object.fromEntries(counts));
  console.log(believed === 0 ? "none was believed" : `${believed} were believed`);
  return believed === 0 ? 0 : 1;
}
