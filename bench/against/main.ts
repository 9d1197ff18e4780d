/**
 * `npm run bench AREA -- --against COMMIT`: is it as fast as it was? The commit and the working
 * tree run their own bench of the area, in turns, and what both print is compared. So any commit
 * will do whose bench prints as ours does, whatever its sources look like.
 *
 *   --rounds N         how often each of them runs: 5, unless told
 *   --at-least RATIO   fail when a measure of ours is worse: 0.95 allows for five per cent
 *   --full             with peers, all rounds and long waits; else both run with --quick
 *   --same-load        the working tree's bench measures both, where it only calls what is built:
 *                      loads may have changed, and are the same then
 *   -- FLAGS…          for both benches: `-- --seconds 20` for churn
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../../scripts/root.mjs";
import { isWhole, readMeasures } from "./measures.ts";
import { compare, missed, tableOf, type Round } from "./table.ts";
import { checkOut, commitOf } from "./trees.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    against: { type: "string", default: "" },
    rounds: { type: "string", default: "5" },
    "at-least": { type: "string", default: "0" },
    full: { type: "boolean", default: false },
    "same-load": { type: "boolean", default: false },
  },
});
/** How often the bench of the earlier commit may break off in a round. */
const RETRIES = 3;
const [area = "", ...flags] = positionals;
const rounds = Number(values.rounds);
const atLeast = Number(values["at-least"]);
if (!(rounds >= 1) || !(atLeast >= 0)) throw new Error("--rounds and --at-least take numbers");

function measure(tree: string): Round {
  const startMs = performance.now();
  const measures = readMeasures(run(tree));
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
  console.error(`  ${tree === root ? "now" : "before"}: ${seconds} s`);
  return measures;
}

/** What is wrong with an earlier bench stays so: one that breaks off now and then goes again. */
function run(tree: string): string {
  const home = values["same-load"] ? root : tree;
  for (let left = tree === root ? 0 : RETRIES; ; left -= 1) {
    const args = [join(home, "scripts/run-ts.mjs"), "bench", area, ...flags];
    const { stdout } = spawnSync(process.execPath, args, {
      cwd: tree,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
    if (left === 0 || isWhole(stdout)) return stdout;
    console.error("  before: broke off, once more");
  }
}

function knowsQuick(tree: string): boolean {
  return readFileSync(join(tree, "bench", "measure.ts"), "utf8").includes('"--quick"');
}

const commit = commitOf(values.against);
console.error(`building ${commit.title}`);
const earlier = checkOut(commit);
// Both or neither: what runs beside it, and how often, changes what is measured.
const isKnown = values["same-load"] || knowsQuick(earlier);
if (!values.full && isKnown) flags.unshift("--quick");
else console.error("with peers, all rounds and long waits");

const before: Round[] = [];
const now: Round[] = [];
for (let round = 1; round <= rounds; round += 1) {
  console.error(`round ${round} of ${rounds}`);
  before.push(measure(earlier));
  now.push(measure(root));
}
const comparison = compare(before, now);
console.log(`${area}: the working tree against ${commit.title}, median of ${rounds} in turns\n`);
console.log(tableOf(comparison, atLeast));
process.exitCode = missed(comparison, atLeast).length > 0 ? 1 : 0;
