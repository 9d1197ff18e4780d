/**
 * `npm run tour`: what Rollcall is, in some minutes, with real programs. `--fast` is for CI:
 * without pauses. It lives in a folder and on ports of its own, and leaves nothing behind.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root } from "../../scripts/root.mjs";
import { nextKey } from "./keys.ts";
import { INTERRUPTED, play } from "./player.ts";
import { Scene } from "./scene.ts";
import { Stage } from "./stage.ts";
import { STEPS } from "./steps/index.ts";

const USAGE = "npm run tour [-- --fast]";
const [flag, ...rest] = process.argv.slice(2);
if ((flag !== undefined && flag !== "--fast") || rest.length > 0) {
  process.stderr.write(`usage: ${USAGE}\n`);
  process.exit(2);
}

const build = spawnSync(process.execPath, [join(root, "scripts/build.mjs")], { stdio: "inherit" });
if (build.status !== 0) process.exit(1);

const { stdin, stdout } = process;
const isGuided = flag !== "--fast" && stdin.isTTY && stdout.isTTY;
const leaving = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => leaving.abort());
}

const scene = await Scene.open();
const stage = new Stage(stdout, { scene, env: process.env, isPaged: isGuided });
const { signal } = leaving;
const left = new Promise<number>((resolve) => {
  signal.addEventListener("abort", () => resolve(INTERRUPTED));
});
const played = play(STEPS, {
  stage,
  signal,
  goesOn: () => (isGuided ? nextKey(stdin, signal) : Promise.resolve(true)),
  // Where all is tested nothing may be left out.
  isMissing: (need) => !scene.has(need) && process.env["CI"] !== "true",
});
process.exitCode = await Promise.race([played, left]);
if (isGuided) stdout.write("\n\n");
await scene.close();
process.exit();
