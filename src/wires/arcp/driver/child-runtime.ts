/**
 * An agent in a process of its own: a runtime that speaks ARCP on its standard streams, to which
 * jobs are handed on. The daemon is its client, and looks after the process.
 *
 *              welcome                    ends
 *   starting ──────────▶ up ────────────────────▶ waiting ──longer each time──▶ starting
 *       └── ends, or offers no such agent ──────────▲  └── too often in a row ──▶ given up
 *
 * Jobs of a process that ends fail with what may be retried, each once; those that come while it
 * starts wait for it. It inherits our environment but for our own settings, which may hold secrets.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { ArcpClient } from "../client/client.ts";
import type { Logger } from "pino";
import { unlessLate } from "../../../machine/waiting.ts";
import { errorText, RollcallError } from "../../../core/errors.ts";
import { redact } from "../../../core/redact.ts";
import type { Liveness, Judgement } from "../../../core/reports.ts";
import type { Clock } from "../../../core/clock.ts";
import type { Driver } from "../../../jobs/driver.ts";
import type { Transport } from "../server/transport.ts";
import { stdioTransport } from "../transports/stdio.ts";
import { handOn } from "./hand-on.ts";
import { CHILD } from "./limits.ts";

/** The program to start: as the config file of a daemon names it. */
export interface ChildProgram {
  readonly name: string;
  readonly version?: string | undefined;
  readonly command: readonly [program: string, ...args: string[]];
  /** The agent's name in its own runtime. */
  readonly agent: string;
  readonly folder: string;
  /** It may hold secrets, so that what prints a config must not find them. */
  readonly env: () => Readonly<Record<string, string>>;
}

export interface ChildRuntimeOptions {
  readonly agent: ChildProgram;
  /** Its row: what it starts belongs to the same. */
  readonly rowId: string;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onLiveness: (liveness: Judgement<Liveness>) => void;
}

export class ChildRuntime implements AsyncDisposable {
  readonly #options: ChildRuntimeOptions;
  readonly #abort = new AbortController();
  readonly #living: Promise<void>;
  #client: ArcpClient | undefined;
  #child: ChildProcess | undefined;
  /** Set when nothing will come any more. */
  #end: RollcallError | undefined;
  /** Its process is of no use any more, for this reason. */
  #leave: (why: string) => void = () => undefined;
  readonly #waiting = new Set<() => void>();
  /** In a row, without having been up for long. */
  #restarts = 0;
  restartsEver = 0;
  /** The last line on the standard error of its process: why it ended, most often. */
  #lastLine: string | undefined;

  constructor(options: ChildRuntimeOptions) {
    this.#options = options;
    this.#living = this.#live();
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  readonly driver: Driver = {
    run: async (input, context) => {
      const client = await this.#up(context.signal);
      try {
        return await handOn(client, { agent: this.#options.agent.agent, input, context });
      } catch (cause) {
        if (!isDeath(cause) || context.signal.aborted) throw cause;
        const message = "the process that ran the agent died";
        throw new RollcallError("UNAVAILABLE", message, { cause });
      }
    },
  };

  /** Its process is told to end, and made to when it does not. Idempotent. */
  async close(): Promise<void> {
    this.#finish(new RollcallError("UNAVAILABLE", "the daemon closes"));
    await this.#living;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #live(): Promise<void> {
    const { clock, logger, onLiveness, agent } = this.#options;
    while (!this.#isOver()) {
      const startedMs = clock.monotonicMs();
      onLiveness({ value: "starting", rule: "its process starts" });
      const why = await this.#liveOnce();
      if (this.#isOver()) return;
      const isSteady = clock.monotonicMs() - startedMs >= CHILD.steadyMs;
      this.#restarts = isSteady ? 1 : this.#restarts + 1;
      this.restartsEver += 1;
      if (this.#restarts > CHILD.restarts) {
        const often = `ended ${this.#restarts} times in a row`;
        const message = `the process of agent ${agent.name} ${often} and is given up: ${why}`;
        logger.error({ agent: agent.name, stderr: this.#lastLine }, message);
        onLiveness({ value: "dead", rule: `given up after ${CHILD.restarts} restarts` });
        this.#finish(new RollcallError("UNAVAILABLE", message));
        return;
      }
      const delayMs = Math.min(CHILD.firstDelayMs * 2 ** (this.#restarts - 1), CHILD.lastDelayMs);
      const again = {
        agent: agent.name,
        restart: this.#restarts,
        inMs: delayMs,
        stderr: this.#lastLine,
      };
      logger.warn(again, `the process of an agent ended: ${why}`);
      onLiveness({ value: "unreachable", rule: "its process ended, and is started again" });
      await this.#pause(delayMs);
    }
  }

  /** From the start of a process to its end; tells why it ended. */
  async #liveOnce(): Promise<string> {
    const { agent, env, rowId, logger, onLiveness } = this.#options;
    const [program, ...args] = agent.command;
    const { ARCP_TOKEN: token = randomBytes(16).toString("hex") } = agent.env();
    const child = spawn(program, args, {
      cwd: agent.folder,
      env: { ...ownEnv(env), ...agent.env(), ROLLCALL_AGENT_ID: rowId, ARCP_TOKEN: token },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#child = child;
    const gone = new Promise<string>((resolve) => {
      child.once("error", (error) => resolve(error.message));
      child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code ?? "unknown"}`));
    });
    const left = new Promise<string>((resolve) => (this.#leave = resolve));
    this.#lastLine = undefined;
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      const lines = text.split("\n").filter((line) => line.trim() !== "");
      for (const line of lines) {
        this.#lastLine = redact(line.slice(0, CHILD.lineLength));
        logger.debug({ agent: agent.name }, line.slice(0, CHILD.lineLength));
      }
    });
    const silent = new Promise<void>((resolve) => child.stderr.once("close", resolve));
    const transport = stdioTransport({ input: child.stdout, output: child.stdin });
    let client: ArcpClient | undefined;
    try {
      client = await this.#connect(transport, token);
      const offered = client.session.agents.map(({ name }) => name);
      if (!offered.includes(agent.agent)) {
        const others = offered.slice(0, 10).join(", ") || "none";
        return `it offers no agent ${agent.agent}, but ${others}`;
      }
      this.#client = client;
      onLiveness({ value: "alive", rule: "its process answers" });
      logger.debug({ agent: agent.name, pid: child.pid }, "the process of an agent is up");
      this.#wake();
      const lost = left.then((why) => this.#soon(gone, why));
      return await Promise.race([gone, lost]);
    } catch (error) {
      const message = errorText(error);
      return isDeath(error) ? await this.#soon(gone, message) : message;
    } finally {
      this.#client = undefined;
      await client?.close();
      await this.#stop(child, gone);
      await unlessLate(this.#options.clock, CHILD.graceMs, silent);
      this.#child = undefined;
    }
  }

  async #connect(transport: Transport, token: string): Promise<ArcpClient> {
    const stop = new AbortController();
    const message = `it sent no welcome within ${CHILD.startMs / 1000} s`;
    const cancel = this.#options.clock.after(CHILD.startMs, () =>
      stop.abort(new RollcallError("DEADLINE_EXCEEDED", message)),
    );
    try {
      const signal = AbortSignal.any([stop.signal, this.#abort.signal]);
      return await ArcpClient.connect(transport, {
        token,
        reconnect: false,
        signal,
        onState: (state) => {
          if (state.kind === "lost") this.#leave(state.reason);
        },
      });
    } finally {
      cancel();
    }
  }

  /** Its streams may end before it does: why it ended, if that is known in a moment. */
  async #soon(gone: Promise<string>, otherwise: string): Promise<string> {
    return (await unlessLate(this.#options.clock, CHILD.graceMs, gone)) ?? otherwise;
  }

  async #stop(child: ChildProcess, gone: Promise<string>): Promise<void> {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGTERM");
    const cancel = this.#options.clock.after(CHILD.graceMs, () => child.kill("SIGKILL"));
    await gone;
    cancel();
  }

  /** The client, once there is one; not for longer than a job should wait. */
  async #up(signal: AbortSignal): Promise<ArcpClient> {
    const untilMs = this.#options.clock.monotonicMs() + CHILD.waitMs;
    while (!this.#client) {
      if (this.#end) throw this.#end;
      signal.throwIfAborted();
      const leftMs = untilMs - this.#options.clock.monotonicMs();
      if (leftMs <= 0) {
        const { name } = this.#options.agent;
        const message = `the process of agent ${name} does not come up: see the daemon's log`;
        throw new RollcallError("UNAVAILABLE", message);
      }
      await this.#woken(leftMs, signal);
    }
    return this.#client;
  }

  async #woken(withinMs: number, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(withinMs, () => done());
      const done = () => {
        cancel();
        signal.removeEventListener("abort", done);
        this.#waiting.delete(done);
        resolve();
      };
      signal.addEventListener("abort", done, { once: true });
      this.#waiting.add(done);
    });
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#abort;
    await this.#woken(ms, signal);
  }

  #isOver(): boolean {
    return this.#end !== undefined;
  }

  #finish(error: RollcallError): void {
    this.#end ??= error;
    this.#abort.abort(error);
    this.#child?.kill("SIGTERM");
    this.#leave(error.message);
    this.#wake();
  }

  #wake(): void {
    for (const go of this.#waiting) go();
  }
}

/** Whether the connection is to blame, and not what the runtime at its other end said. */
function isDeath(error: unknown): boolean {
  if (!(error instanceof RollcallError) || error.cause !== undefined) return false;
  return error.code === "UNAVAILABLE" || error.code === "CANCELLED";
}

/** Ours are not its business, and some are secrets; so is the password of our log. */
function ownEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isOurs = (name: string) => name.startsWith("ROLLCALL_") || name === "PGPASSWORD";
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isOurs(name)));
}
