/**
 * Before any test: builds dist/, since threads and programs run from there. When that fails, the
 * tests that need it will say so; the others still have something to tell. All temporary folders
 * are made in one, which goes with the run, whatever a test that failed left behind.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** As of the folder for temporary files itself: some tests run programs as another user. */
const SHARED_MODE = 0o1777;

export function setup(): () => void {
  const script = fileURLToPath(new URL("../scripts/build.mjs", import.meta.url));
  spawnSync(process.execPath, [script], { stdio: "inherit" });

  // Short, since the paths of sockets have at most 107 bytes.
  const folder = mkdtempSync(join(tmpdir(), "rc-"));
  chmodSync(folder, SHARED_MODE);
  process.env["TMPDIR"] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
