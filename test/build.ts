/**
 * Before any test: builds dist/, since threads and programs run from there. When that fails, the
 * tests that need it will say so; the others still have something to tell.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export function setup(): void {
  const script = fileURLToPath(new URL("../scripts/build.mjs", import.meta.url));
  spawnSync(process.execPath, [script], { stdio: "inherit" });
}
