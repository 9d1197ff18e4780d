/** Enter goes on, q leaves: one key at a time, as it is pressed. */
import type { ReadStream } from "node:tty";
import { isQuit } from "../../src/cli/terminal/screen.ts";

const CTRL_C = "\u0003";

/** Whether to go on; Ctrl-C is the same as q here, and whoever asked cleans up. */
export async function nextKey(stdin: ReadStream, signal: AbortSignal): Promise<boolean> {
  stdin.setRawMode(true).setEncoding("utf8").resume();
  try {
    return await new Promise<boolean>((resolve) => {
      const heard = (key: string) => {
        if (/^[\r\n ]/.test(key)) done(true);
        else if (isQuit(key) || key === CTRL_C) done(false);
      };
      const left = () => done(false);
      const done = (goesOn: boolean) => {
        stdin.off("data", heard).off("end", left);
        signal.removeEventListener("abort", left);
        resolve(goesOn);
      };
      stdin.on("data", heard).on("end", left);
      signal.addEventListener("abort", left);
      if (signal.aborted) left();
    });
  } finally {
    stdin.setRawMode(false).pause();
  }
}
