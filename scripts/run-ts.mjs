/**
 * Runs a TypeScript program of this repository: `run-ts.mjs FILE ARGS…`, or `run-ts.mjs FOLDER NAME
 * ARGS…` for FOLDER/NAME.ts. It is bundled with the sources as they are now and then runs in this
 * very process, so that a signal, an exit code or a `kill -9` is that of the program.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { basename, extname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { bundle, PACKAGES, present, THREADS } from "./bundle.mjs";
import { isAlive, root } from "./root.mjs";

const cache = join(root, ".cache");
/** Longer than any program loads its bundle. */
const ABANDONED_MS = 3_600_000;

/**
 * The bundles of programs that were killed. One that is young may belong to a process that cannot
 * be seen from here: `npm run hosts` has a table of processes of its own.
 */
function sweep() {
  for (const name of readdirSync(cache)) {
    const pid = /^run-(\d+)$/.exec(name)?.[1];
    const path = join(cache, name);
    const stats = pid && !isAlive(Number(pid)) && statSync(path, { throwIfNoEntry: false });
    if (!stats || Date.now() - stats.mtimeMs < ABANDONED_MS) continue;
    rmSync(path, { recursive: true, force: true });
  }
}

/** @param {string[]} args */
function programOf([first, ...rest]) {
  const path = resolve(root, first ?? ".");
  if (existsSync(path) && statSync(path).isFile()) return { file: path, args: rest };
  const [name, ...args] = rest;
  const file = join(path, `${name}.ts`);
  if (name && existsSync(file)) return { file, args };
  const names = existsSync(path) ? readdirSync(path).filter((each) => extname(each) === ".ts") : [];
  console.error(`no such program: ${[first, name].join(" ")}; there is: ${names.join(" ")}`);
  process.exit(2);
}

const program = programOf(process.argv.slice(2));
mkdirSync(cache, { recursive: true });
sweep();
const directory = join(cache, `run-${process.pid}`);
process.on("exit", () => rmSync(directory, { recursive: true, force: true }));

const name = basename(program.file, ".ts");
await bundle({ ...present(THREADS), [name]: program.file }, directory, {
  sourcemap: true,
  external: PACKAGES,
});

process.setSourceMapsEnabled(true);
process.argv.splice(1, Infinity, program.file, ...program.args);
await import(pathToFileURL(join(directory, `${name}.js`)).href);
