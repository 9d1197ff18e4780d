/**
 * ARCP in the daemon: one runtime on the daemon's own journal, the agents of its config file, and
 * what makes its jobs visible to everybody else: the bus, the fleet, policies.
 *
 *   doors ──transport──▶ runtime ──▶ agents: modules, children
 *                          │ observers          ▲
 *                          ├─▶ tracker ─▶ engine (job.*)
 *                          ├─▶ rows ─▶ fleet  policies ─▶ who may submit what
 *
 * A runtime whose journal failed stops for good, so that nobody is told what is not on disk. The
 * engine below finds back to its disk by itself; so here a new runtime takes over, which begins as
 * after a crash: with what the journal holds.
 */
import type { Clock } from "../../core/clock.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import { policyAuthorizer } from "../../jobs/entitlement.ts";
import type { JobObserver } from "../../jobs/observer.ts";
import { JobRows } from "../../jobs/rows.ts";
import { JobTracker } from "../../jobs/tracker.ts";
import type { Streams } from "../../log/streams.ts";
import { ArcpRuntime } from "../../wires/arcp/server/runtime.ts";
import type { Transport } from "../../wires/arcp/server/transport.ts";
import type { Principal } from "../auth.ts";
import { ARCP } from "../limits.ts";
import type { Logger } from "../logger.ts";
import type { AgentConfig } from "./agents-config.ts";
import { HostedAgents } from "./hosted-agents.ts";

export interface ArcpServiceOptions {
  readonly agents: readonly AgentConfig[];
  readonly journal: Streams;
  readonly engine: Engine;
  readonly fleet: Pick<Fleet, "report" | "reports">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  /** Who everybody is that a door lets in, while no tokens are configured. */
  readonly local: Principal;
}

export interface ArcpNumbers {
  readonly connections: number;
  readonly sessions: number;
  readonly waitingBytes: number;
  readonly untold: number;
  readonly children: number;
  readonly restarts: number;
}

export class ArcpService implements AsyncDisposable {
  readonly #options: ArcpServiceOptions;
  readonly #tracker: JobTracker;
  readonly #rows: JobRows;
  readonly #hosted: HostedAgents;
  #runtime: ArcpRuntime;
  /** Whether everybody was told what became of the jobs that ran before. */
  #isOpen = false;
  #stopRetry: (() => void) | undefined;
  #closing: Promise<void> | undefined;
  /** Since the start: what jobs said. */
  events = 0;

  private constructor(
    options: ArcpServiceOptions,
    parts: { readonly tracker: JobTracker; readonly rows: JobRows; readonly hosted: HostedAgents },
  ) {
    this.#options = options;
    this.#tracker = parts.tracker;
    this.#rows = parts.rows;
    this.#hosted = parts.hosted;
    this.#runtime = this.#newRuntime();
  }

  /** Resolves when sessions can be resumed and it is told what became of the jobs that ran. */
  static async start(options: ArcpServiceOptions): Promise<ArcpService> {
    const { engine, clock, fleet, logger } = options;
    const onTrouble = (what: string, error: unknown) => logger.warn({ err: error }, what);
    const tracker = new JobTracker({ engine, clock, onTrouble });
    const rows = new JobRows({
      node: engine.node,
      clock,
      report: (report) => fleet.report(report),
      forget: (alias) => engine.execute({ type: "fleet.forget", alias }),
      onTrouble,
    });
    try {
      const hosted = await HostedAgents.start(options.agents, { ...options, rows });
      const service = new ArcpService(options, { tracker, rows, hosted });
      await service.#openOrRetry();
      return service;
    } catch (error) {
      await rows.close();
      throw error;
    }
  }

  /** One connection that a door let in. */
  accept(transport: Transport): void {
    this.#runtime.accept(transport);
  }

  numbers(): ArcpNumbers {
    const { connections, sessions, waitingBytes } = this.#runtime.stats();
    const { children, restarts } = this.#hosted;
    return {
      connections,
      sessions,
      waitingBytes,
      untold: this.#tracker.untold,
      children,
      restarts,
    };
  }

  /** Why no job can be taken now, if so. */
  get trouble(): string | undefined {
    const isWell = this.#isOpen && !this.#runtime.hasFailed;
    return isWell ? undefined : "jobs cannot be recorded";
  }

  /** What is under way becomes durable; jobs that run are left as after a crash. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#stopRetry?.();
    await this.#runtime.close();
    await Promise.all([this.#hosted.close(), this.#rows.close(), this.#tracker.close()]);
  }

  /** A disk that is full now may have room later: the daemon is up, and says what is wrong. */
  async #openOrRetry(): Promise<void> {
    const { clock, fleet, logger } = this.#options;
    this.#isOpen = false;
    const startedMs = clock.wallMs();
    try {
      await this.#runtime.start();
      const { index } = this.#runtime.jobs;
      await this.#tracker.reconcile(index, startedMs);
      await this.#rows.reconcile(await fleet.reports(), index);
      this.#isOpen = true;
    } catch (error) {
      logger.warn({ err: error }, "jobs cannot be recorded yet");
      this.#replaceLater();
    }
  }

  #newRuntime(): ArcpRuntime {
    const { engine, journal, clock, version, local, logger } = this.#options;
    const tracker = this.#tracker;
    const counter: JobObserver = { onEvent: () => void (this.events += 1) };
    const runtime: ArcpRuntime = new ArcpRuntime({
      runtime: { name: "rollcall", version },
      // The door has looked at the peer; a token says nothing while none are configured.
      bearer: (token) => (token === "" ? undefined : local.name),
      cancelBy: "principal",
      journal,
      clock,
      authorizer: policyAuthorizer({
        engine,
        refusal: () => (tracker.isBehind ? "too many jobs wait to be told of" : undefined),
      }),
      observers: [tracker, this.#rows, counter],
      onTrouble: (what, error) => {
        logger.warn({ err: error }, what);
        if (this.#runtime === runtime && runtime.hasFailed) this.#replaceLater();
      },
    });
    for (const { config, driver } of this.#hosted.all) {
      const { name, version: ofAgent, isDefault, restart } = config;
      const which = ofAgent === undefined ? {} : { version: ofAgent, isDefault };
      runtime.registerAgent(name, driver, { ...which, restart });
    }
    return runtime;
  }

  #replaceLater(): void {
    if (this.#stopRetry || this.#closing) return;
    this.#stopRetry = this.#options.clock.after(ARCP.retryMs, () => {
      this.#stopRetry = undefined;
      void this.#replace();
    });
  }

  async #replace(): Promise<void> {
    await this.#runtime.close();
    if (this.#closing) return;
    this.#rows.dropJobs();
    this.#runtime = this.#newRuntime();
    await this.#openOrRetry();
    if (this.#isOpen) this.#options.logger.info("jobs can be recorded again");
  }
}
