/**
 * What a hook costs, against Node that does nothing, in turns. In processor time: on a busy machine
 * the time that passes says how busy it is.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/root.mjs";

const ROUNDS = 30;
const PAYLOAD = { session_id: "cost", tool_name: "Bash", tool_input: { command: "ls" } };

/** How many times as much it takes as Node alone, in a session that has its sidecar. */
export function hookCost(host: string, env: NodeJS.ProcessEnv): number {
  const tell = (event: string) => {
    const input = JSON.stringify({ ...PAYLOAD, hook_event_name: event });
    runNode([join(root, "dist/bin/rollcall.cjs"), "hook", host], { env, input });
  };
  tell("SessionStart");
  let [bare, hook] = [0, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    bare += spentBy(() => runNode(["-e", "0"], { env }));
    hook += spentBy(() => tell("PreToolUse"));
  }
  tell("SessionEnd");
  return hook / bare;
}

/** How long Node takes to start on this machine now. */
export function nodeStartMs(env: NodeJS.ProcessEnv): number {
  const startedAt = performance.now();
  runNode(["-e", "0"], { env });
  return performance.now() - startedAt;
}

function runNode(words: readonly string[], options: { env: NodeJS.ProcessEnv; input?: string }) {
  spawnSync(process.execPath, words, options);
}

/** In ticks of the kernel, hundredths of a second: see proc(5) for the places of the numbers. */
function spentBy(act: () => void): number {
  const spent = () => {
    const stat = readFileSync("/proc/self/stat", "utf8");
    const numbers = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [user = NaN, system = NaN] = numbers.slice(13, 15).map(Number);
    return user + system;
  };
  const before = spent();
  act();
  return spent() - before;
}
