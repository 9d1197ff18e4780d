/**
 * A newcomer at a terminal: types a line, and reads what it says. The program runs in this process,
 * as `rollcall` runs it in its own, so that a hundred lines take seconds.
 */
import { run } from "@stricli/core";
import type { Context } from "../../src/cli/context.ts";
import { exitCodeOfParser } from "../../src/cli/exit.ts";
import { applicationFor, entriesOf, type Program } from "../../src/cli/program.ts";
import { Output, type Environment, type Sink } from "../../src/cli/terminal/output.ts";
import { PROGRAM } from "../../src/cli/tree.ts";
import { normalise } from "../../src/cli/words.ts";

export interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A terminal of that width, or a pipe. */
export type Screen = Pick<Sink, "isTTY" | "columns">;

export class Newcomer {
  readonly #env: Environment;

  constructor(env: Environment) {
    this.#env = env;
  }

  /** A line as a shell reads it: words, and 'quoted words'. */
  async types(line: string, screen: Screen = {}): Promise<Said> {
    const [name, ...words] = Array.from(line.matchAll(/'([^']*)'|\S+/g), ([word, quoted]) => {
      return quoted ?? word;
    });
    const program = name === "rollcall" ? PROGRAM : await arcp();
    const out = new Sheet(screen);
    const err = new Sheet(screen);
    const process: Context["process"] = { stdout: out, stderr: err, env: this.#env };
    let ended = 0;
    const context: Context = {
      process,
      out: new Output(out, this.#env),
      err: new Output(err, this.#env),
      env: this.#env,
      untilInterrupted: () => new AbortController().signal,
      listenForKeys: () => () => undefined,
      endWith: (code) => (ended = code),
    };
    const inputs = normalise(words, program);
    await run(await applicationFor(program, inputs, context), inputs, context);
    const code = exitCodeOfParser(process.exitCode) || ended;
    return { code, stdout: out.text, stderr: err.text };
  }
}

async function arcp(): Promise<Program> {
  return (await import("../../src/cli/arcp/tree.ts")).ARCP;
}

class Sheet implements Sink {
  readonly isTTY: boolean;
  readonly columns: number;
  text = "";

  constructor({ isTTY = false, columns = 80 }: Screen) {
    this.isTTY = isTTY;
    this.columns = columns;
  }

  write(text: string, done?: () => void): boolean {
    this.text += text;
    done?.();
    return true;
  }
}

/** By command ("agents get"), the first example of its help. */
export async function firstExamples(): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const [name, entry] of Object.entries(entriesOf(PROGRAM))) {
    const leaves =
      "commands" in entry
        ? Object.entries(entry.commands).map(([verb, leaf]) => [`${name} ${verb}`, leaf] as const)
        : [[name, entry] as const];
    for (const [command, leaf] of leaves) {
      const { fullDescription = "" } = await leaf.load();
      const [, example] = /^Examples\n {2}(.+?)(?: {2}.*)?$/m.exec(fullDescription) ?? [];
      if (example !== undefined) found.set(command, example);
    }
  }
  return found;
}
