/** Installs the packages of the lock file, unless they are there. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./root.mjs";

export function install() {
  if (isInstalled()) return;
  console.error("installing packages…");
  const { status } = spawnSync("npm", ["ci", "--ignore-scripts", "--loglevel=error"], {
    cwd: root,
    stdio: ["ignore", process.stderr, process.stderr],
  });
  if (status !== 0) {
    console.error("npm ci failed");
    process.exit(1);
  }
}

/** npm notes what it installed in a second lock file; those for other platforms are not in it. */
function isInstalled() {
  const note = join(root, "node_modules", ".package-lock.json");
  if (!existsSync(note)) return false;
  const installed = packagesOf(note);
  const wanted = Object.entries(packagesOf(join(root, "package-lock.json")));
  return wanted.every(
    ([path, { version, optional }]) =>
      path === "" || optional || installed[path]?.version === version,
  );
}

/** @param {string} lockFile */
function packagesOf(lockFile) {
  return JSON.parse(readFileSync(lockFile, "utf8")).packages;
}
