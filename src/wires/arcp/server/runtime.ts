/**
 * The ARCP runtime as a library: agents, and an engine on the store it is given. With a store that
 * lasts all of it survives the process; without one it lives in memory.
 *
 *   const runtime = new ArcpRuntime({ runtime: { name: "demo", version: "1.0.0" },
 *                                     bearer: staticTokens({ demo: "me@example.com" }) });
 *   runtime.registerAgent("echo", async (input, job) => ({ echoed: input }));
 *   runtime.accept(transport);
 */
import { Engine } from "../../../engine/engine.ts";
import type { AgentOptions, JobAgents } from "../../../jobs/agents.ts";
import type { AgentFunction, Driver } from "../../../jobs/driver.ts";
import type { JobService } from "../../../jobs/jobs.ts";
import { memoryStore } from "../../../log/memory/store.ts";
import type { Store } from "../../../log/store.ts";
import { importLedger, type LedgerSize } from "../ledger/import.ts";
import type { ArcpOptions } from "./options.ts";
import { ArcpService, type ArcpStats } from "./service.ts";
import type { Transport } from "./transport.ts";

export interface ArcpRuntimeOptions extends ArcpOptions {
  /** Closed by its owner, after the runtime; without one everything is forgotten at the end. */
  readonly store?: Store;
  /** The store is of a program before schema 2: its jobs and sessions are taken over. */
  readonly onImport?: (found: LedgerSize) => void;
}

const NODE = "solo";

export class ArcpRuntime implements AsyncDisposable {
  readonly #options: ArcpRuntimeOptions;
  readonly #store: Store;
  readonly #service: ArcpService;
  #engine: Promise<Engine> | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: ArcpRuntimeOptions) {
    this.#options = options;
    this.#store = options.store ?? memoryStore();
    this.#service = new ArcpService({ ...options, node: NODE, streams: this.#store.streams });
  }

  get agents(): JobAgents {
    return this.#service.agents;
  }

  get jobs(): JobService {
    return this.#service.jobs;
  }

  /** Several versions of a name may be registered; before `start`, if its jobs run again. */
  registerAgent(name: string, agent: AgentFunction | Driver, options?: AgentOptions): this {
    this.agents.register(name, agent, options);
    return this;
  }

  /**
   * Reads the store: sessions can be resumed, and jobs that ran end or run again. The first
   * `accept` does it, too; call it when all agents are registered.
   */
  async start(): Promise<void> {
    await this.#open();
  }

  #open(): Promise<Engine> {
    this.#engine ??= this.#openEngine();
    return this.#engine;
  }

  async #openEngine(): Promise<Engine> {
    const { clock, onImport, onTrouble } = this.#options;
    await importLedger(this.#store, { node: NODE, onImport });
    return Engine.open({
      log: this.#store.log,
      node: NODE,
      companion: this.#service,
      ...(clock && { clock }),
      ...(onTrouble && { onTrouble }),
    });
  }

  /** Serves one connection until it ends. */
  accept(transport: Transport): void {
    this.#service.accept(transport);
    this.#open().catch((error: unknown) => {
      this.#options.onTrouble?.("the store cannot be opened", error);
      void this.close();
    });
  }

  /** The counts for gauges. */
  stats(): ArcpStats {
    return this.#service.stats();
  }

  /**
   * Idempotent. Connections are closed, running agents are told to stop; their jobs are left as
   * after a crash: with a store that lasts they end, or run again, at the next start.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const engine = await this.#engine?.catch(() => undefined);
    await this.#service.close();
    await engine?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
