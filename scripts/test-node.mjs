/**
 * `npm run test:node -- 24`: the tests under another Node, which npm brings into .cache. What
 * follows the version goes to `npm test`: `npm run test:node -- 22 src/net`.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { root } from "./root.mjs";

const [version = "", ...rest] = process.argv.slice(2);
if (!/^\d+(?:\.\d+){0,2}$/.test(version)) {
  console.error("which Node? As in: npm run test:node -- 24");
  process.exit(2);
}

const home = join(root, ".cache", "node", version);
const programs = join(home, "node_modules", "node", "bin");
if (!existsSync(join(programs, "node"))) {
  console.error(`installing Node ${version}…`);
  mkdirSync(home, { recursive: true });
  // Its install script puts the program in its place.
  const args = ["install", "--prefix", home, "--no-audit", "--no-fund", `node@${version}`];
  run("npm", args, process.env);
}
const env = { ...process.env, PATH: `${programs}${delimiter}${process.env["PATH"]}` };
run(join(programs, "node"), [join(root, "scripts", "test.mjs"), ...rest], env);

/**
 * Ends this process with it when it fails.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} environment
 */
function run(program, args, environment) {
  const { status } = spawnSync(program, args, { stdio: "inherit", cwd: root, env: environment });
  if (status !== 0) process.exit(status ?? 1);
}
