/** A daemon that keeps its log in a store that others share, as an operator starts it. */
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { daemon, run, scratch, type Running } from "./programs.ts";

export interface Member {
  readonly up: Running;
  readonly url: string;
  /** Its folder. */
  readonly state: string;
  /** What a command at this daemon prints. */
  readonly rollcall: (...args: readonly string[]) => Promise<string>;
}

export async function member(
  node: string,
  log: string,
  ...more: readonly string[]
): Promise<Member> {
  const home = scratch();
  const state = join(home.path, "state");
  const place = ["--data-dir", state, "--log", log, "--node", node];
  const { up, url } = await daemon(...place, "--no-status-files", ...more);
  onTestFinished(async () => {
    await up[Symbol.asyncDispose]();
    home[Symbol.dispose]();
  });
  const rollcall = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await run([...args, "--url", url]);
    if (code !== 0) throw new Error(`${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  return { up, url, state, rollcall };
}
