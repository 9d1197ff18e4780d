/** What a hook costs the program that waits for it, against Node that does nothing, in turns. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root } from "../../scripts/root.mjs";

const ROUNDS = 15;
const PAYLOAD = { session_id: "cost", tool_name: "Bash", tool_input: { command: "ls" } };

/** How many times as long it takes as Node alone; medians, of a session that has its sidecar. */
export function hookCost(host: string, env: NodeJS.ProcessEnv): number {
  const tell = (event: string) => {
    const input = JSON.stringify({ ...PAYLOAD, hook_event_name: event });
    return startMs([join(root, "dist/bin/rollcall.cjs"), "hook", host], { env, input });
  };
  tell("SessionStart");
  const [bare, hook]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(nodeStartMs(env));
    hook.push(tell("PreToolUse"));
  }
  tell("SessionEnd");
  return median(hook) / median(bare);
}

/** How long Node takes to start on this machine now. */
export function nodeStartMs(env: NodeJS.ProcessEnv): number {
  return startMs(["-e", "0"], { env });
}

function startMs(words: readonly string[], options: { env: NodeJS.ProcessEnv; input?: string }) {
  const startedAt = performance.now();
  spawnSync(process.execPath, words, options);
  return performance.now() - startedAt;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}
