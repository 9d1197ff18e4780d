/**
 * `npm test`: gets what is missing, then builds, checks and tests everything. The last line says
 * how many passed; a step counts as one, and so does each test.
 *
 * While working: `npm test -- --only lint,types` runs those steps, and any other arguments go to
 * vitest: `npm test -- src/core -t "a lease"`.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { delimiter, join, relative } from "node:path";
import { install } from "./install.mjs";
import { provide } from "./prerequisites.mjs";
import { hasCode, root } from "./root.mjs";

const report = `.cache/vitest-${process.pid}.json`;

/** One group after the other; the steps of a group side by side. */
const GROUPS = [
  { build: "node scripts/build.mjs" },
  {
    pack: "node scripts/pack-test.mjs",
    types: "tsc",
    page: "tsc --project assets/page",
    lint: "oxlint",
    format: "oxfmt --check",
    unused: "knip --no-progress",
  },
  // Only failures are shown: where an output is cut, little is left.
  { vitest: `vitest run --no-color --reporter=dot --reporter=json --outputFile.json=${report}` },
  {
    simulation: "node scripts/run-ts.mjs test/simulation/main.ts --seeds 600 --threads 1",
    fuzz: "node scripts/run-ts.mjs test/fuzz/main.ts --seconds 40",
  },
  // Alone: what runs beside it would be measured, too.
  { bench: "node scripts/run-ts.mjs bench quick" },
];

/** Two cores are what the machines have. */
const SIDE_BY_SIDE = 2;
/** What a failed test says, and where. */
const REASON_LINES = 12;
/** No step may hang the whole. */
const MAX_STEP_MS = 20 * 60_000;

const path = `${join(root, "node_modules", ".bin")}${delimiter}${process.env["PATH"]}`;
const settings = { cwd: root, env: { ...process.env, PATH: path } };
const total = { passed: 0, failed: 0, skipped: 0 };

/**
 * Runs a step, says in one line how it went, and shows what it printed when it failed.
 * @param {string} name
 * @param {string} command
 */
async function run(name, command) {
  const startedAt = performance.now();
  const [program = "", ...args] = command.split(" ");
  const child = spawn(program, args, { ...settings, detached: true });
  const end = () => endGroup(child.pid);
  const timer = setTimeout(end, MAX_STEP_MS);
  process.once("exit", end);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => (output += text));
  }
  /** @type {string} */
  const problem = await new Promise((resolve) => {
    child.on("error", (error) => resolve(error.message));
    child.on("close", (code, signal) => {
      resolve(code === 0 ? "" : `${output}\n${name} ended with ${signal ?? code}`);
    });
  });
  clearTimeout(timer);
  process.off("exit", end);
  const failures = count(name, !problem);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${problem ? "FAILED" : "ok    "} ${name} ${seconds} s`);
  // First what failed: where an output is cut, its end is lost.
  for (const failure of failures) console.log(failure);
  if (problem) console.log(problem);
}

/**
 * Ends a step with all that it started: each has a process group of its own.
 * @param {number | undefined} leader
 */
function endGroup(leader) {
  try {
    if (leader !== undefined) process.kill(-leader, "SIGKILL");
  } catch (error) {
    if (!hasCode(error, "ESRCH")) throw error;
  }
}

/**
 * Gives the names of the tests that failed, and why.
 * @param {string} name
 * @param {boolean} isOk
 * @returns {string[]}
 */
function count(name, isOk) {
  if (name !== "vitest" || !existsSync(join(root, report))) {
    total[isOk ? "passed" : "failed"]++;
    return [];
  }
  const tests = JSON.parse(readFileSync(join(root, report), "utf8"));
  rmSync(join(root, report));
  total.passed += tests.numPassedTests;
  total.skipped += tests.numPendingTests + tests.numTodoTests;
  // A file that cannot even be loaded has no failed test, and yet failed.
  total.failed += Math.max(tests.numFailedTests, isOk ? 0 : 1);
  return failuresOf(tests);
}

/**
 * @param {{ testResults: { name: string, status: string, assertionResults: Failure[] }[] }} tests
 * @typedef {{ status: string, fullName: string, failureMessages: string[] }} Failure
 */
function failuresOf({ testResults }) {
  return testResults
    .filter(({ status }) => status === "failed")
    .flatMap(({ name, assertionResults }) => {
      const failed = assertionResults.filter(({ status }) => status === "failed");
      const texts = failed.length > 0 ? failed.map(textOf) : ["does not load"];
      return texts.map((each) => `  ${relative(root, name)}: ${each}`);
    });
}

/** @param {Failure} failure */
function textOf({ fullName, failureMessages }) {
  const lines = failureMessages.join("\n").split("\n").slice(0, REASON_LINES);
  return [fullName, ...lines].join("\n    ");
}

/** @param {(name: string) => boolean} isWanted */
async function runAll(isWanted) {
  for (const group of GROUPS) {
    const waiting = Object.entries(group).filter(([name]) => isWanted(name));
    const runner = async () => {
      for (let step = waiting.shift(); step; step = waiting.shift()) await run(...step);
    };
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, runner));
  }
}

function getPrerequisites() {
  for (const { name, need } of provide()) {
    const isFatal = process.env["CI"] === "true";
    if (isFatal) total.failed++;
    console.log(`${isFatal ? "FAILED" : "skips "} ${name} is missing: ${need}`);
  }
}

const [flag, ...rest] = process.argv.slice(2);
install();
if (flag !== undefined && flag !== "--only") {
  const args = ["run", flag, ...rest];
  process.exit(spawnSync("vitest", args, { ...settings, stdio: "inherit" }).status ?? 1);
}
const all = GROUPS.flatMap((group) => Object.keys(group));
const wanted = flag === undefined ? all : rest.flatMap((each) => each.split(","));
if (wanted.length === 0 || !wanted.every((name) => all.includes(name))) {
  console.error(`--only takes some of: ${all.join(",")}`);
  process.exit(2);
}
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));
getPrerequisites();
await runAll((name) => wanted.includes(name));
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : "";
console.log(`${total.passed} passed, ${total.failed} failed${skipped}`);
process.exitCode = total.failed > 0 ? 1 : 0;
