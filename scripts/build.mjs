/**
 * Builds dist/ from src/: the library in dist/lib/ and the programs in dist/bin/, both as bundles.
 * Types are stripped, not checked: that is a step of `npm test`.
 *
 * Does nothing when dist/ was built from the very same sources; `--force` builds all the same.
 * Several may build at once: each waits its turn, and replaces only files that changed, each in one
 * step, so that a program already running from dist/ finds what it found before.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { libraryEntries, libraryFiles } from "./library.mjs";
import { filesUnder, hasCode, isAlive, root } from "./root.mjs";

const PROGRAMS = {
  rollcall: "src/main.ts",
  agentkeeper: "src/bin/agentkeeper.ts",
  arcp: "src/bin/arcp.ts",
};

/**
 * Called again and again by people, status lines and agents. CommonJS starts a fifth sooner. These
 * two only choose the program behind them (src/bin/start.ts).
 */
const FRONT = { rollcall: "src/bin/rollcall.ts", "agent-status": "src/bin/agent-status.ts" };

/**
 * `sidecar` is what hooks start. `acp` is the proxy, for which an editor waits, and `acp-attendant`
 * the thread beside it. Of `ls` what is rare is in files of its own.
 */
const BEHIND = {
  hook: "src/bin/hook.ts",
  sidecar: "src/bin/sidecar.ts",
  status: "src/bin/status.ts",
  acp: "src/bin/acp.ts",
  "acp-attendant": "src/bin/acp-attendant.ts",
};

const LS = { ls: "src/bin/ls.ts" };

const SHEBANG = "#!/usr/bin/env node";

const dist = join(root, "dist");
const stamp = join(dist, ".built-from");
const lock = join(root, ".cache", "build.lock");

/** What dist/ depends on, as one word. */
function fingerprint() {
  const sources = filesUnder("src").filter((file) => !file.endsWith(".test.ts"));
  const settings = [
    "assets/openapi.json",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "tsconfig.build.json",
  ];
  const recipe = ["scripts/build.mjs", "scripts/bundle.mjs", "scripts/library.mjs"];
  const hash = createHash("sha256");
  for (const file of [...sources, ...settings, ...recipe]) {
    hash
      .update(`${file}\0`)
      .update(fs.readFileSync(join(root, file)))
      .update("\0");
  }
  return hash.digest("hex");
}

/** @param {string} wanted */
function isBuiltFrom(wanted) {
  return fs.existsSync(stamp) && fs.readFileSync(stamp, "utf8") === wanted;
}

/**
 * The packages it uses stay packages: its users may have the same ones. Of the declarations those
 * stay that the exports lead to.
 * @param {string} directory
 */
async function buildLibrary(directory) {
  const { bundle, PACKAGES, THREADS } = await import("./bundle.mjs");
  const lib = join(directory, "lib");
  await bundle({ ...libraryEntries(), ...THREADS }, lib, { external: PACKAGES });
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const options = ["--project", "tsconfig.build.json", "--outDir", lib];
  const { status } = spawnSync(process.execPath, [tsc, ...options], {
    cwd: root,
    stdio: "inherit",
  });
  if (status !== 0) throw new Error("tsc could not write the declarations");
  const library = libraryFiles(directory);
  for (const file of filesUnder("", directory)) {
    if (!library.has(file)) fs.rmSync(join(directory, file));
  }
}

/** @param {string} directory */
async function buildPrograms(directory) {
  const { bundle, present, THREADS } = await import("./bundle.mjs");
  const programs = present(PROGRAMS);
  if (Object.keys(programs).length === 0) return;
  const bin = join(directory, "bin");
  await bundle({ ...programs, ...present(THREADS) }, bin, {
    banner: (name) => (name in programs ? SHEBANG : ""),
  });
  for (const [name, source] of Object.entries(present(FRONT))) {
    await bundle({ [name]: source }, bin, { whole: true, format: "cjs", banner: () => SHEBANG });
    fs.chmodSync(join(bin, `${name}.cjs`), 0o755);
  }
  for (const [name, source] of Object.entries(present(BEHIND))) {
    await bundle({ [name]: source }, bin, { whole: true, format: "cjs" });
  }
  await bundle(present(LS), bin, { format: "cjs", operations: ["fleet.list"] });
  for (const name of Object.keys(programs)) {
    fs.chmodSync(join(bin, `${name}.js`), 0o755);
  }
}

/**
 * Makes dist/ what `directory` is.
 * @param {string} directory
 */
function publish(directory) {
  const fresh = new Set(filesUnder("", directory));
  for (const file of fresh) {
    const from = join(directory, file);
    const to = join(dist, file);
    if (fs.existsSync(to) && fs.readFileSync(to).equals(fs.readFileSync(from))) continue;
    fs.mkdirSync(dirname(to), { recursive: true });
    fs.renameSync(from, to);
  }
  for (const file of filesUnder("", dist)) if (!fresh.has(file)) fs.rmSync(join(dist, file));
}

/** Waits until no other build runs, and leaves a note with our process id. */
async function takeTurn() {
  fs.mkdirSync(dirname(lock), { recursive: true });
  for (;;) {
    try {
      fs.writeFileSync(lock, String(process.pid), { flag: "wx" });
      return;
    } catch (error) {
      if (!hasCode(error, "EEXIST")) throw error;
    }
    if (isAbandoned()) fs.rmSync(lock, { force: true });
    else await sleep(50);
  }
}

function isAbandoned() {
  const holder = fs.existsSync(lock) ? Number(fs.readFileSync(lock, "utf8")) : 0;
  return holder > 0 && !isAlive(holder);
}

await takeTurn();
try {
  const wanted = fingerprint();
  if (process.argv.includes("--force") || !isBuiltFrom(wanted)) {
    const startedAt = performance.now();
    const directory = fs.mkdtempSync(join(root, ".cache", "build-"));
    try {
      await buildLibrary(directory);
      await buildPrograms(directory);
      fs.rmSync(stamp, { force: true });
      publish(directory);
      fs.writeFileSync(stamp, wanted);
    } finally {
      fs.rmSync(directory, { recursive: true, force: true });
    }
    console.error(`built dist/ in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  }
} finally {
  fs.rmSync(lock);
}
