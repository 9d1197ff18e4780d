/**
 * `npm start`: installs and builds what is missing or out of date, then becomes `rollcall up`, in
 * this very process: its signals, its output, its exit code. Arguments are handed on:
 * `npm start -- --memory`.
 *
 * package.json says `exec node …`, or a signal sent to npm would end a shell in between, and leave
 * the daemon behind.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { install } from "./install.mjs";
import { root } from "./root.mjs";

install();
const build = spawnSync(process.execPath, [join(root, "scripts", "build.mjs")], {
  stdio: "inherit",
});
if (build.status !== 0) process.exit(build.status ?? 1);

const program = join(root, "dist", "bin", "rollcall.js");
process.argv.splice(1, 1, program, "up");
await import(pathToFileURL(program).href);
