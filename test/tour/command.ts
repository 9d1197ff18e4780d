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
const DEADLINE_MS = 20_000;

export async function caught(
  words: readonly string[],
  { env, cwd, look, input }: ActorOptions & { readonly look?: Look; readonly input?: string },
): Promise<Caught> {
  const shown = look && {
    TOUR_COLUMNS: String(look.columns),
    TOUR_COLOURS: String(look.colours),
  };
  const args = [...(look ? ["--import", TERMINAL] : []), PROGRAM, ...words];
  const child = spawn(process.execPath, args, { env: { ...env, ...shown }, cwd });
  const late = setTimeout(() => child.kill("SIGKILL"), DEADLINE_MS);
  let [text, stdout] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (more: string) => {
    stdout += more;
    text += more;
  });
  child.stderr.setEncoding("utf8").on("data", (more: string) => (text += more));
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  clearTimeout(late);
  return { code, text, stdout };
}
