/** The programs of this bench, each a process of its own: the load, our runtime, the others. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpuUsOf, freeAddress, start, type Program } from "../keeper/programs.ts";
import type { Idle, Load, Measured } from "./load.ts";

const PYTHON = ".cache/venv/arcp/bin/python";

/** A server under load. */
export interface Server extends AsyncDisposable {
  readonly url: string;
}

export interface Usage {
  readonly residentBytes: number;
}

export interface Runtime extends Server {
  /** The processor time that it has used. */
  cpuUs(): number;
  usage(): Promise<Usage>;
}

/** With the file it keeps its events in; without one it has them in memory. */
export async function startPeer(path?: string): Promise<Server> {
  const address = await freeAddress();
  const args = ["bench/arcp/peer.py", address, ...(path === undefined ? [] : [path])];
  return serverAt(await start(PYTHON, args, address), "/arcp");
}

export async function startBare(): Promise<Server> {
  const address = await freeAddress();
  const args = ["bench/arcp/bare.mjs", address];
  return serverAt(await start(process.execPath, args, address), "/");
}

function serverAt(program: Program, path: string): Server {
  return {
    url: `ws://${program.address}${path}`,
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  };
}

export async function startOurs(path: string, nodeFlags: readonly string[] = []): Promise<Runtime> {
  const child = forked("bench/arcp/runtime.mjs", [path], ["--expose-gc", ...nodeFlags]);
  const { url } = (await answerOf(child)) as { readonly url: string };
  return {
    url,
    cpuUs: () => cpuUsOf(child.pid ?? 0),
    usage() {
      child.send("usage");
      return answerOf(child) as Promise<Usage>;
    },
    [Symbol.asyncDispose]: () => ended(child),
  };
}

export class Loader implements AsyncDisposable {
  readonly #child = forked("scripts/run-ts.mjs", ["bench/arcp/load.ts"]);

  measure(load: Omit<Load, "kind">): Promise<Measured> {
    return this.#ask({ kind: "load", ...load }) as Promise<Measured>;
  }

  async open(url: string, sessions: number): Promise<void> {
    await this.#ask({ kind: "idle", url, sessions });
  }

  async #ask(what: Load | Idle): Promise<unknown> {
    this.#child.send(what);
    const { value, error } = (await answerOf(this.#child)) as { value?: unknown; error?: string };
    if (error !== undefined) throw new Error(error);
    return value;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return ended(this.#child);
  }
}

function forked(
  program: string,
  args: readonly string[],
  execArgv: readonly string[] = [],
): ChildProcess {
  return fork(program, args, { execArgv: [...execArgv] });
}

/** What it says next; it has to live to say it. */
function answerOf(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = () => reject(new Error(`${child.spawnargs.join(" ")} ended`));
    child.once("exit", onExit);
    child.once("message", (said) => {
      child.off("exit", onExit);
      resolve(said);
    });
  });
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGTERM");
  await exit;
}
