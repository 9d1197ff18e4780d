/**
 * `npm run soak -- --minutes 10`: a real daemon under honest clients of all wires, killed, stopped,
 * attacked and left without room on its disk. Plays test/soak/soak.test.ts, which says what must
 * hold; each line tells of one trouble that is over.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { install } from "./install.mjs";
import { root } from "./root.mjs";

const HELP = `Soaks a daemon in honest work and every kind of trouble.

  npm run soak -- --minutes N   kills, stalls, hostile clients and full disks in turns; default 10
  npm run soak -- --kills N     only kill -9, N times, under work on all wires
  --seed N                      the same troubles again, as far as chance is ours`;

const { values: flags } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    kills: { type: "string" },
    seed: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

const given = [flags.minutes, flags.kills, flags.seed].filter((each) => each !== undefined);
const isWrong = given.some((each) => !/^\d+$/.test(each));
if (flags.help || isWrong) {
  console.log(HELP);
  process.exit(isWrong ? 2 : 0);
}
install();
const env = {
  ...process.env,
  SOAK_SECONDS: String(Number(flags.minutes) * 60),
  ...(flags.kills !== undefined && { SOAK_KILLS: flags.kills }),
  ...(flags.seed !== undefined && { SOAK_SEED: flags.seed }),
};
const args = ["run", "test/soak/soak.test.ts", "--disable-console-intercept=true"];
const vitest = join(root, "node_modules/.bin/vitest");
process.exitCode = spawnSync(vitest, args, { cwd: root, env, stdio: "inherit" }).status ?? 1;
