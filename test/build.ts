/** Before any test: builds dist/, since threads and programs run from there. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export function setup(): void {
  const script = fileURLToPath(new URL("../scripts/build.mjs", import.meta.url));
  execFileSync(process.execPath, [script], { stdio: "inherit" });
}
