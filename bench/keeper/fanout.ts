/** Events that reach many watchers, as bench/keeper/fanout sees them: a client not of Node. */
import { execFile, execFileSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "../../scripts/root.mjs";
import type { Measured } from "../measure.ts";
import type { Program } from "./programs.ts";

const EVENTS = 500;

export interface Spreading {
  readonly connections: number;
  readonly watchers: number;
  /** What is watched, and what is done so that there is something to see. */
  readonly words: readonly string[];
}

type Fanout = (kind: string, program: Program, spreading: Spreading) => Promise<Measured>;

export function buildFanout(folder: string): Fanout {
  const program = join(folder, "fanout");
  // Of this bench, also where it measures another commit (`--same-load`).
  execFileSync("go", ["build", "-o", program, "."], { cwd: join(root, "bench/keeper/fanout") });
  return async (kind, server, { connections, watchers, words }) => {
    const numbers = [server.pid, connections, watchers, EVENTS].map(String);
    const args = [kind, server.address, ...numbers, ...words];
    const { stdout } = await promisify(execFile)(program, args);
    const [perSecond = NaN, cpuUs = NaN] = stdout.split(" ").map(Number);
    return { perSecond, p99Ms: NaN, cpuUs };
  };
}
