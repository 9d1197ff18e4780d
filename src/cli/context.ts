/** The context of every command: its output, the environment, the signal to stop. */
import type { CommandContext, StricliProcess } from "@stricli/core";
import { RollcallError } from "../core/errors.ts";
import type { Environment } from "../machine/surroundings.ts";
import { Output, whenReaderLeaves } from "./terminal/output.ts";

export interface Context extends CommandContext {
  readonly process: StricliProcess;
  readonly out: Output;
  readonly err: Output;
  readonly env: Environment;
  /** Aborts at the first Ctrl-C or SIGTERM, or when stdout is closed; a second one kills. */
  untilInterrupted(): AbortSignal;
  /** Keys as they are pressed, until the returned function is called; Ctrl-C interrupts. */
  listenForKeys(pressed: (key: string) => void): () => void;
  /** For a command that did its work and has bad news: the number to end with. */
  endWith(code: number): void;
}

export interface SystemContext extends Context {
  readonly exitCode: number;
}

/** The real thing: this process. */
export function systemContext(env: Environment): SystemContext {
  const { stdout } = process;
  // Made when first needed: most commands are over before anybody could interrupt them.
  let interrupted: AbortController | undefined;
  const interruption = () => (interrupted ??= new AbortController());
  const stop = () => interruption().abort(new RollcallError("CANCELLED", "interrupted"));
  whenReaderLeaves(stdout, stop);
  // So is stderr: most commands have nothing to say there.
  let opened: typeof process.stderr | undefined;
  const stderr = () => {
    if (!opened) whenReaderLeaves((opened = process.stderr), stop);
    return opened;
  };
  let err: Output | undefined;
  let exitCode = 0;
  return {
    // Not the process itself: exit codes and colours are not the parser's to choose.
    process: {
      stdout: { write: (text) => void stdout.write(text) },
      stderr: { write: (text) => void stderr().write(text) },
      env,
    },
    out: new Output(stdout, env),
    get err() {
      return (err ??= new Output(stderr(), env));
    },
    env,
    untilInterrupted() {
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
      return interruption().signal;
    },
    listenForKeys(pressed) {
      const { stdin } = process;
      if (!stdin.isTTY) return () => undefined;
      const take = (bytes: Buffer) => (bytes.includes(CTRL_C) ? stop() : pressed(String(bytes)));
      stdin.setRawMode(true).on("data", take).resume();
      return () => void stdin.setRawMode(false).off("data", take).pause();
    },
    endWith(code) {
      exitCode = code;
    },
    get exitCode() {
      return exitCode;
    },
  };
}

const CTRL_C = 3;
