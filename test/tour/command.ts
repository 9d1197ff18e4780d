/** A command of ours, run as a process and caught: for who checks it, and for who looks at it. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../../scripts/root.mjs";
import type { ActorOptions } from "./actor.ts";

/** How the terminal is on which it will be seen. */
export interface Look {
  readonly columns: number;
  /** In bits, as Node counts them. */
  readonly colours: number;
}

export interface Caught {
  readonly code: number | null;
  /** What it says and what it notes, in the order in which it came. */
  readonly text: string;
  readonly stdout: string;
}

const PROGRAM = join(root, "dist/bin/rollcall.js");
const TERMINAL = pathToFileURL(join(root, "test/tour/terminal.mjs")).href;
const DEADLINE_MS = 60_000;

/** What runs it, and with which environment, so that it writes for that terminal. */
export function commandFor(
  words: readonly string[],
  env: NodeJS.ProcessEnv,
  look?: Look,
): { readonly command: readonly [string, ...string[]]; readonly env: NodeJS.ProcessEnv } {
  if (!look) return { command: [process.execPath, PROGRAM, ...words], env };
  const { columns, colours } = look;
  return {
    command: [process.execPath, "--import", TERMINAL, PROGRAM, ...words],
    env: { ...env, TOUR_COLUMNS: String(columns), TOUR_COLOURS: String(colours) },
  };
}

/** From its start to its end. */
export async function caught(
  words: readonly string[],
  { look, ...options }: ActorOptions & { readonly look?: Look },
): Promise<Caught> {
  const { command, env } = commandFor(words, options.env, look);
  const [program, ...args] = command;
  const child = spawn(program, args, {
    env,
    cwd: options.cwd,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: DEADLINE_MS,
    killSignal: "SIGKILL",
  });
  let [text, stdout] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (more: string) => {
    stdout += more;
    text += more;
  });
  child.stderr.setEncoding("utf8").on("data", (more: string) => (text += more));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  return { code, text, stdout };
}
