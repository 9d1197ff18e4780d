/**
 * `npm run hosts [-- NAME…]`: real coding agents in front of Rollcall. For each, the table of
 * moments: what it showed, and how long after the program's own screen. Without names all of them
 * but those whose licence is proprietary.
 *
 * The programs come from the npm registry first; then everything runs in a network namespace.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root } from "../../scripts/root.mjs";
import { inNamespace, mustBeAlone } from "./namespace.ts";
import { fetchPackage, folderOf } from "./packages.ts";
import type { Program } from "./program.ts";
import { PROGRAMS } from "./programs/index.ts";
import { Stage, type Cell, type Omission } from "./stage.ts";

const INSIDE = "--inside";
const HELP = `Plays the table of moments with real coding agents, offline, and judges their rows.

  npm run hosts                 all but those whose licence is proprietary
  npm run hosts -- NAME…        only these: ${PROGRAMS.map(({ name }) => name).join(", ")}
`;

const words = process.argv.slice(2);
process.exitCode = await (words[0] === INSIDE ? playAll(words.slice(1)) : prepare(words));

async function prepare(names: readonly string[]): Promise<number> {
  if (names.includes("--help")) {
    process.stdout.write(HELP);
    return 0;
  }
  const unknown = names.find((name) => !PROGRAMS.some((each) => each.name === name));
  if (unknown !== undefined) {
    const known = PROGRAMS.map(({ name }) => name).join(", ");
    process.stderr.write(`npm run hosts: no program ${unknown}; there is: ${known}\n`);
    return 2;
  }
  const chosen = PROGRAMS.filter(({ name, isProprietary = false, isBrief = false }) =>
    names.length === 0 ? !isProprietary && !isBrief : names.includes(name),
  );
  const build = [join(root, "scripts/build.mjs")];
  if (spawnSync(process.execPath, build, { stdio: "inherit" }).status !== 0) return 1;
  for (const each of chosen) {
    for (const version of each.versions) fetchPackage({ name: each.package, version });
    for (const other of each.also ?? []) fetchPackage(other);
  }
  const script = join(root, "scripts/hosts.mjs");
  return inNamespace([process.execPath, script, INSIDE, ...chosen.map(({ name }) => name)]);
}

async function playAll(names: readonly string[]): Promise<number> {
  mustBeAlone();
  let wrong = 0;
  for (const program of PROGRAMS.filter(({ name }) => names.includes(name))) {
    for (const version of program.versions) wrong += await play(program, version);
  }
  return wrong === 0 ? 0 : 1;
}

/** How many cells are wrong. */
async function play(program: Program, version: string): Promise<number> {
  process.stdout.write(`\n${program.name} ${version}\n`);
  const cells: Cell[] = [];
  const onCell = (cell: Cell) => {
    cells.push(cell);
    process.stdout.write(lineOf(cell));
  };
  const folder = folderOf({ name: program.package, version });
  {
    await using stage = await Stage.open({
      program: program.shownAs ?? program.name,
      folder,
      isOutpost: program.isOutpost ?? false,
      onCell,
      onOmission: (omission) => process.stdout.write(lineOfOmission(omission)),
    });
    await program.play(stage).catch((error: unknown) => {
      onCell({ moment: "all moments", expected: "played", afterMs: 0, problem: String(error) });
    });
  }
  const right = cells.filter(({ problem }) => problem === undefined).length;
  process.stdout.write(`  ${right} of ${cells.length} cells right\n`);
  return cells.length - right;
}

function lineOf({ moment, expected, afterMs, withinMs, problem }: Cell): string {
  const mark = problem === undefined ? "✓" : "✗";
  const after = `${(afterMs / 1000).toFixed(1)} s`.padStart(7);
  const trouble = problem === undefined ? "" : `\n      ${problem.replaceAll("\n", "\n      ")}`;
  const bound = withinMs === undefined ? "" : ` (within ${withinMs / 1000} s)`;
  return `  ${mark} ${moment.padEnd(34)} ${after}  ${expected}${bound}${trouble}\n`;
}

function lineOfOmission({ moment, reason }: Omission): string {
  return `  – ${moment.padEnd(34)} not asked for: ${reason}\n`;
}
