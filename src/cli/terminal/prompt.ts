/** Questions to the person at the terminal. What is typed for a secret is never shown. */
import { stripVTControlCharacters } from "node:util";
import { RollcallError } from "../../core/errors.ts";
import type { Context } from "../context.ts";

type Keys = Pick<Context, "err" | "listenForKeys" | "untilInterrupted">;

/** Enter, and Ctrl-D. */
const END = ["\r", "\n", "\u0004"];
const ERASE = ["\b", "\u007f"];
/** Ctrl-U. */
const ERASE_ALL = "\u0015";

/** The line that is typed or pasted, unseen; empty for Enter alone. */
export async function askSecret(context: Keys, question: string): Promise<string> {
  let typed = "";
  return answer(context, question, (keys) => {
    // A terminal may put sequences around a paste; arrows are some, too.
    for (const key of stripVTControlCharacters(keys)) {
      if (END.includes(key)) return typed;
      if (key === ERASE_ALL) typed = "";
      else typed = ERASE.includes(key) ? typed.slice(0, -1) : typed + key;
    }
    return undefined;
  });
}

/** Whether the person presses y, and maybe Enter at once. */
export async function confirm(context: Keys, question: string): Promise<boolean> {
  return answer(context, `${question} [y/N]`, (keys) => /^y/i.test(keys));
}

/** Listens until the keys give an answer; throws CANCELLED at Ctrl-C. */
async function answer<T>(
  context: Keys,
  question: string,
  read: (keys: string) => T | undefined,
): Promise<T> {
  const interrupted = context.untilInterrupted();
  await context.err.write(`${question} `);
  let stop: () => void = () => undefined;
  try {
    return await new Promise<T>((resolve, reject) => {
      interrupted.addEventListener("abort", () =>
        reject(new RollcallError("CANCELLED", "interrupted")),
      );
      stop = context.listenForKeys((keys) => {
        const found = read(keys);
        if (found !== undefined) resolve(found);
      });
    });
  } finally {
    stop();
    await context.err.line();
  }
}
