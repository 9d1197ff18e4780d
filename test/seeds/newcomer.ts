/**
 * A newcomer at a terminal: types a line, and reads what it says. The program runs in this process,
 * as `rollcall` runs it in its own, so that a hundred lines take seconds.
 */
import { run } from "@stricli/core";
import type { Context } from "../../src/cli/context.ts";
import { exitCodeOfParser } from "../../src/cli/exit.ts";
import { applicationFor, entriesOf, type Program } from "../../src/cli/program.ts";
import { Output, type Sink } from "../../src/cli/terminal/output.ts";
import type { Environment } from "../../src/machine/surroundings.ts";
import { PROGRAM } from "../../src/cli/tree.ts";
import { normalise } from "../../src/cli/words.ts";

export interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A terminal of that width, or a pipe. */
export interface Screen extends Pick<Sink, "isTTY" | "columns"> {
  /** Ctrl-C was pressed. */
  readonly isInterrupted?: boolean;
}

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
    const interruption = new AbortController();
    if (screen.isInterrupted === true) interruption.abort();
    let ended = 0;
    const context: Context = {
      process,
      out: new Output(out, this.#env),
      err: new Output(err, this.#env),
      env: this.#env,
      untilInterrupted: () => interruption.signal,
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

/** Every command by its words ("agents get"). */
async function* commands() {
  for (const [name, entry] of Object.entries(entriesOf(PROGRAM))) {
    if (!("commands" in entry)) yield [name, await entry.load()] as const;
    else {
      for (const [verb, leaf] of Object.entries(entry.commands)) {
        yield [`${name} ${verb}`, await leaf.load()] as const;
      }
    }
  }
}

/** Commands whose first example needs a shell of its own: examples.test.ts tries those. */
export const BY_SHELL = [
  "up",
  "a2a-registry",
  "mcp",
  "completion",
  "backup",
  "restore",
  "compact",
  "import",
  "login",
  "context use",
  "context rename",
  "context remove",
  "acp run",
  "acp record",
  "acp replay",
] as const;

export type ByShell = (typeof BY_SHELL)[number];

/** By command, the first example of its help. */
export async function firstExamples(): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for await (const [command, { fullDescription = "" }] of commands()) {
    const [, example] = /^Examples\n {2}(.+?)(?: {2}.*)?$/m.exec(fullDescription) ?? [];
    if (example !== undefined) found.set(command, example);
  }
  return found;
}

/** The places where a command takes an agent: "agents get AGENT", "leases list --holder". */
export async function agentPlaces(): Promise<readonly string[]> {
  const places: string[] = [];
  for await (const [command, { parameters }] of commands()) {
    const { positional, flags = {} } = parameters as ParameterTable;
    const { parameters: words = [positional?.parameter ?? {}] } = positional ?? {};
    for (const { placeholder } of words) if (isAgent(placeholder)) places.push(`${command} AGENT`);
    for (const [name, { placeholder }] of Object.entries(flags)) {
      if (isAgent(placeholder)) places.push(`${command} --${name}`);
    }
  }
  return places;
}

interface Placeholder {
  readonly placeholder?: string;
}

/** The part of a command's parameters that is read here. */
interface ParameterTable {
  readonly flags?: Readonly<Record<string, Placeholder>>;
  readonly positional?: {
    readonly parameter?: Placeholder;
    readonly parameters?: readonly Placeholder[];
  };
}

function isAgent(placeholder = ""): boolean {
  return /\bAGENT/.test(placeholder);
}
