/**
 * Starts a program that lies beside this one. Where it is kept, with the code that V8 made of it
 * the last time: to compile it anew is a tenth of what a short command costs. Node 22 keeps such
 * code by itself; for Node 20 it is kept here, in the user's cache folder.
 *
 * V8 checks that the code is of its own version and flags, but not of which text it is. So the file
 * says of which: the program's size, inode and time of change, which no installation leaves as they
 * were. A file that cannot be read or written is no error: then the program is compiled.
 *
 * Not for a program that calls `import()`: from kept code Node 20 refuses it. And built as CommonJS
 * only, of which this uses `require` and `__dirname`.
 */
import * as fs from "node:fs";
import * as module from "node:module";
import { join } from "node:path";
import { Script } from "node:vm";
import { makeFolder } from "../machine/folders.ts";
import { cacheFolder } from "../machine/places.ts";

/** Of what CommonJS gives a file: see `OPENING`. */
type CompiledProgram = (...given: readonly unknown[]) => void;

const { enableCompileCache } = module as { enableCompileCache?: () => void };

export function start(name: string): void {
  // oxlint-disable-next-line typescript/no-require-imports -- `import` would read it twice
  require(join(__dirname, name));
}

export function startKept(name: string): void {
  if (enableCompileCache) {
    enableCompileCache();
    start(name);
  } else startFrom(join(cacheFolder(), `${name}-${process.version}.code`), join(__dirname, name));
}

function startFrom(codePath: string, path: string): void {
  const { size, ino, ctimeMs } = fs.statSync(path);
  const stamp = Buffer.from(`${size} ${ino} ${ctimeMs}`.padEnd(STAMP_BYTES).slice(0, STAMP_BYTES));
  const kept = readCode(codePath, stamp);
  // One string of ASCII, which is all that the build leaves in it: with a copy in the heap a short
  // command would not end before its first garbage collection.
  const text = Buffer.concat([OPENING, fs.readFileSync(path), CLOSING]).toString("latin1");
  const script = new Script(text, {
    filename: path,
    ...(kept && { cachedData: kept }),
  });
  if (!kept || script.cachedDataRejected === true) {
    // At the end, when all is compiled that such a call needs.
    process.once("exit", (code) => {
      if (code === 0) keepCode(codePath, stamp, script);
    });
  }
  const program = new module.Module(path);
  // Files that it loads on demand refer to it.
  require.cache[path] = program;
  (script.runInThisContext() as CompiledProgram)(
    program.exports,
    require,
    program,
    path,
    __dirname,
  );
}

/** A program is a function of these, as `require` would have it. */
const OPENING = Buffer.from("(function (exports, require, module, __filename, __dirname) { ");
const CLOSING = Buffer.from("\n})");
const STAMP_BYTES = 64;

function readCode(path: string, stamp: Buffer): Buffer | undefined {
  try {
    const kept = fs.readFileSync(path);
    return kept.subarray(0, STAMP_BYTES).equals(stamp) ? kept.subarray(STAMP_BYTES) : undefined;
  } catch {
    return undefined;
  }
}

function keepCode(path: string, stamp: Buffer, script: Script): void {
  const draft = `${path}.${process.pid}`;
  try {
    makeFolder(cacheFolder(), 0o700);
    // First, so that where nothing can be kept the code is not gathered in vain.
    const file = fs.openSync(draft, "wx", 0o600);
    fs.writeSync(file, Buffer.concat([stamp, script.createCachedData()]));
    fs.fsyncSync(file);
    fs.closeSync(file);
    fs.renameSync(draft, path);
  } catch {
    fs.rmSync(draft, { force: true });
  }
}
