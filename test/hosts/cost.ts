/**
 * What a hook costs, against Node that does nothing, in turns: the medians of many. Judged by
 * processor time; the clock is told beside it, and says on a busy machine how busy that is.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root } from "../../scripts/root.mjs";

const ROUNDS = 30;
const PAYLOAD = { session_id: "cost", tool_name: "Bash", tool_input: { command: "ls" } };

interface RunOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly input?: string;
}

/** Of one process, or one against another. */
export interface Cost {
  readonly processor: number;
  readonly clock: number;
}

/** How many times as much it takes as Node alone, in a session that has its sidecar. */
export function hookCost(host: string, env: NodeJS.ProcessEnv): Cost {
  const tell = (event: string) => {
    const input = JSON.stringify({ ...PAYLOAD, hook_event_name: event });
    return runNode([join(root, "dist/bin/rollcall.cjs"), "hook", host], { env, input });
  };
  tell("SessionStart");
  const bare: Cost[] = [];
  const hook: Cost[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(runNode(["-e", "0"], { env }));
    hook.push(tell("PreToolUse"));
  }
  tell("SessionEnd");
  const times = (of: (cost: Cost) => number) => median(hook.map(of)) / median(bare.map(of));
  return { processor: times(({ processor }) => processor), clock: times(({ clock }) => clock) };
}

/** How long Node takes to start on this machine now. */
export function nodeStartMs(env: NodeJS.ProcessEnv): number {
  return runNode(["-e", "0"], { env }).clock;
}

/** As hosts run their hooks: by a shell, which knows the time of its children to a millisecond. */
const TIMED = 'TIMEFORMAT="%3R %3U %3S"; time "$@" 2> /dev/null';

/** In milliseconds. */
function runNode(words: readonly string[], options: RunOptions): Cost {
  const shell = ["-c", TIMED, "bash", process.execPath, ...words];
  const { stderr } = spawnSync("bash", shell, { ...options, encoding: "utf8" });
  const [clock = NaN, user = NaN, system = NaN] = stderr.split(" ").map((each) => 1000 * +each);
  return { clock, processor: user + system };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}
