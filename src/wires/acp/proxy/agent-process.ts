/**
 * The agent behind the proxy: started as it was written, in a process group of its own, and brought
 * to its end when its client is done with it.
 *
 *   running ──▶ its input is closed ──10 s──▶ SIGTERM ──5 s──▶ SIGKILL      to its whole group
 *      │                   │
 *      └───────────────────┴──▶ exited ──▶ its output is read to the end ──▶ over
 *                                            │ somebody it started holds it open, in silence
 *                                            └──▶ over
 *
 * Only a closed input means that the client is gone. That our parent has another number does not: a
 * shell that started us may leave at once, with the editor still at the other end.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { Clock } from "../../../core/clock.ts";
import { AGENT_END } from "./limits.ts";

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface AgentProcessOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

const HAS_GROUPS = process.platform !== "win32";

export class AgentProcess {
  readonly input: Writable;
  readonly output: Readable;
  /** Rejects when it could not be started. */
  readonly exited: Promise<ProcessExit>;
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #clock: Clock;
  #stopTimer: () => void = () => undefined;
  #isExited = false;
  #isDismissed = false;
  /** The editor or the user wants it to end, so its children end with it. */
  #isUnwanted = false;

  constructor({ command, args, env, clock }: AgentProcessOptions) {
    this.#clock = clock;
    this.#child = spawn(command, args, {
      // Its complaints go where ours would: nobody stands in between, so nobody can be slow.
      stdio: ["pipe", "pipe", "inherit"],
      detached: HAS_GROUPS,
      env,
    });
    this.input = this.#child.stdin;
    this.output = this.#child.stdout;
    this.exited = new Promise((resolve, reject) => {
      this.#child.once("error", reject);
      this.#child.once("exit", (code, signal) => {
        this.#isExited = true;
        this.#stopTimer();
        if (this.#isUnwanted) this.#signalGroup("SIGTERM");
        resolve({ code, signal });
      });
    });
    // The caller that awaits it gets the error; until one does, it is no fault.
    this.exited.catch(() => undefined);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Passes a signal that we got on to the agent. */
  pass(signal: NodeJS.Signals): void {
    if (this.#isExited) return;
    this.#isUnwanted = true;
    this.#child.kill(signal);
  }

  /** Its client is gone: it has some time to end by itself. Idempotent. */
  dismiss(): void {
    if (this.#isDismissed || this.#isExited) return;
    this.#isDismissed = true;
    this.#isUnwanted = true;
    this.#stopTimer = this.#clock.after(AGENT_END.graceMs, () => {
      this.#signalGroup("SIGTERM");
      this.#stopTimer = this.#clock.after(AGENT_END.termMs, () => this.#signalGroup("SIGKILL"));
    });
  }

  /** Also to what it started, as long as that stayed in its group. */
  #signalGroup(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      if (HAS_GROUPS) process.kill(-pid, signal);
      else this.#child.kill(signal);
    } catch {
      // There is nobody left.
    }
  }
}
