/**
 * The ARCP runtime: agents on one side, sessions on the other, and everything that must last in a
 * journal. Give it one and all of it survives the process; without one it lives in memory.
 *
 *   transports ─▶ Connection ─▶ Dispatch ─▶ Jobs ─▶ Runs ─▶ agents
 *        ▲                                    │ events
 *        └── Output ◀── journal ◀── Recorder ◀┘
 *
 *   const runtime = new ArcpRuntime({ runtime: { name: "demo", version: "1.0.0" },
 *                                     bearer: staticTokens({ demo: "me@example.com" }) });
 *   runtime.registerAgent("echo", async (input, job) => ({ echoed: input }));
 *   runtime.accept(transport);
 */
import { randomFillSync } from "node:crypto";
import { ulids } from "../../../core/ulid.ts";
import { systemClock } from "../../../machine/clock.ts";
import { Agents, type AgentOptions } from "../../../jobs/agents.ts";
import { Alarms, type Alarmed } from "../../../jobs/alarms.ts";
import { Credentials } from "../../../jobs/credentials.ts";
import type { AgentFunction, Driver } from "../../../jobs/driver.ts";
import { abortRun } from "../../../jobs/job.ts";
import { DEFAULT_LIMITS, Jobs } from "../../../jobs/jobs.ts";
import { Ledger } from "../../../jobs/ledger.ts";
import { Recorder } from "../../../jobs/recorder.ts";
import { Revival, type JobLedgerEntry } from "../../../jobs/revival.ts";
import { memoryStore } from "../../../log/memory/store.ts";
import { Connection, type ConnectionHost } from "./connection.ts";
import { FEATURES, type Feature } from "../codec/messages.ts";
import { Rate } from "../../../core/rate.ts";
import type { ArcpRuntimeOptions } from "./runtime-options.ts";
import type { SessionEntry } from "./session.ts";
import { OUTPUT, SESSIONS } from "./session-limits.ts";
import { Sessions, type RestoredSession, type RestoredSubscription } from "./sessions.ts";
import type { SubscriptionEntry } from "./subscription.ts";
import type { Transport } from "./transport.ts";

const LEDGER_STREAM = "arcp/ledger";

type LedgerEntry =
  | JobLedgerEntry
  | SessionEntry
  | { readonly t: "ses-"; readonly id: string }
  | SubscriptionEntry
  | { readonly t: "sub+"; readonly s: string; readonly j: string; at: number; live: boolean }
  | { readonly t: "sub-"; readonly s: string; readonly j: string };

export class ArcpRuntime implements AsyncDisposable {
  readonly agents = new Agents();
  readonly jobs: Jobs;
  readonly #options: ArcpRuntimeOptions;
  readonly #alarms: Alarms;
  readonly #recorder: Recorder;
  readonly #ledger: Ledger;
  readonly #credentials: Credentials | undefined;
  readonly #sessions: Sessions;
  readonly #connections = new Set<Connection>();
  readonly #host: ConnectionHost;
  #ready: Promise<void> | undefined;
  #isReady = false;
  #failure: unknown;
  #closed: Promise<void> | undefined;

  constructor(options: ArcpRuntimeOptions) {
    const { clock = systemClock, provisioner, limits, durability = "journal" } = options;
    this.#options = options;
    const newId = ulids({
      nowMs: () => clock.wallMs(),
      fillRandom: options.fillRandom ?? ((bytes) => randomFillSync(bytes)),
    });
    this.#alarms = new Alarms(clock);
    this.#recorder = new Recorder({
      journal: options.journal ?? openMemory(),
      isEager: durability === "memory",
      onFailure: (error) => this.#fail(error),
    });
    this.#ledger = new Ledger(this.#recorder, LEDGER_STREAM);
    const shared = { alarms: this.#alarms, recorder: this.#recorder, ledger: this.#ledger };
    const onTrouble = options.onTrouble ?? (() => undefined);
    this.#credentials = provisioner && new Credentials({ ...shared, provisioner, onTrouble });
    this.jobs = new Jobs({
      ...shared,
      agents: this.agents,
      credentials: this.#credentials,
      observers: options.observers ?? [],
      authorizer: options.authorizer,
      around: options.around,
      limits: { ...DEFAULT_LIMITS, ...limits },
      newId,
      onTrouble,
    });
    const sessionLimits = { ...SESSIONS, ...options.sessions };
    this.#sessions = new Sessions({ ...shared, jobs: this.jobs, limits: sessionLimits, newId });
    const { framesPerSecond } = sessionLimits;
    this.#host = {
      runtime: options.runtime,
      sessions: this.#sessions,
      verify: options.bearer,
      frames: new Rate(framesPerSecond),
      cancelBy: options.cancelBy ?? "session",
      features: () => this.#features,
      agents: () => this.agents.list(),
      onClosed: (connection) => this.#connections.delete(connection),
      onTrouble,
    };
  }

  /** Several versions of a name may be registered; before `start`, if its jobs run again. */
  registerAgent(name: string, agent: AgentFunction | Driver, options?: AgentOptions): this {
    this.agents.register(name, agent, options);
    return this;
  }

  /**
   * Reads what the journal holds: sessions can be resumed, and what became of the jobs that ran is
   * told. The first `accept` does it, too; call it when all agents are registered.
   */
  start(): Promise<void> {
    this.#ready ??= this.#start();
    return this.#ready;
  }

  async #start(): Promise<void> {
    const sessions = new Map<string, RestoredSession>();
    const subscriptions = new Map<string, RestoredSubscription>();
    const revival = new Revival({
      jobs: this.jobs,
      agents: this.agents,
      ledger: this.#ledger,
      credentials: this.#credentials,
      ownerOf: (sessionId) => this.#sessions.get(sessionId),
    });
    for await (const { entry, place } of this.#ledger.open()) {
      const read = entry as LedgerEntry;
      switch (read.t) {
        case "ses":
          sessions.set(read.id, { entry: read, place });
          break;
        case "ses-":
          sessions.delete(read.id);
          break;
        case "sub":
          subscriptions.set(`${read.s} ${read.j}`, { entry: read, place });
          break;
        case "sub+": {
          const kept = subscriptions.get(`${read.s} ${read.j}`);
          const { at, live } = read;
          const changed = kept && { ...kept, entry: { ...kept.entry, at, live } };
          if (changed) subscriptions.set(`${read.s} ${read.j}`, changed);
          break;
        }
        case "sub-":
          subscriptions.delete(`${read.s} ${read.j}`);
          break;
        default:
          revival.read(read, place);
      }
    }
    await this.#sessions.restore([...sessions.values()]);
    revival.rebuild();
    this.#sessions.restoreSubscriptions(subscriptions.values());
    this.#ledger.ready();
    revival.resume();
    this.#isReady = true;
    this.#sweepLater();
  }

  /** Serves one connection until it ends. */
  accept(transport: Transport): void {
    if (this.#closed || this.#failure !== undefined) {
      transport.open(IGNORANT);
      transport.close({ code: 1013, reason: "the runtime is closed" });
      return;
    }
    const connection = new Connection(this.#host, transport);
    this.#connections.add(connection);
    if (this.#isReady) transport.open(connection);
    else void this.#openWhenReady(transport, connection);
  }

  async #openWhenReady(transport: Transport, connection: Connection): Promise<void> {
    try {
      await this.start();
      transport.open(connection);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Whether its journal failed: it serves nobody any more. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** What there is, for those who count. */
  stats(): ArcpStats {
    return {
      connections: this.#connections.size,
      sessions: this.#sessions.size,
      jobs: this.jobs.index.size,
      waitingBytes: this.#recorder.waitingBytes,
      ledgerEntries: this.#ledger.length,
    };
  }

  /** The journal failed: nothing counts any more that is not in it, so everybody has to go. */
  #fail(error: unknown): void {
    this.#failure ??= error;
    for (const connection of this.#connections) {
      connection.close({ code: 1013, reason: "the runtime cannot write" });
    }
    this.#options.onTrouble?.("the journal failed; the runtime has stopped", error);
  }

  get #features(): readonly Feature[] {
    return this.#options.provisioner ? FEATURES : PLAIN_FEATURES;
  }

  readonly #sweeper: Alarmed = {
    onAlarm: () => {
      this.jobs.sweep();
      this.#sessions.sweep();
      this.#sweepLater();
    },
  };

  #sweepLater(): void {
    this.#alarms.set(this.#alarms.nowMs() + OUTPUT.sweepMs, this.#sweeper);
  }

  /**
   * Idempotent. Connections are closed, running agents are told to stop; their jobs are left as
   * after a crash: with a journal they end, or run again, at the next start.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.#ready?.catch(() => undefined);
    for (const connection of this.#connections) {
      connection.close({ code: 1001, reason: "the runtime closes" });
    }
    await this.#recorder.settled();
    this.#alarms.close();
    this.#credentials?.close();
    this.#recorder.stop();
    for (const { running } of this.jobs.index.all()) {
      if (running) abortRun(running, "the runtime closes");
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

export interface ArcpStats {
  readonly connections: number;
  /** Open, or waiting to be resumed. */
  readonly sessions: number;
  /** Running, waiting and kept. */
  readonly jobs: number;
  readonly waitingBytes: number;
  readonly ledgerEntries: number;
}

const PLAIN_FEATURES = FEATURES.filter(
  (feature) => feature !== "model.use" && feature !== "provisioned_credentials",
);

const IGNORANT = {
  onFrame: () => undefined,
  onDrained: () => undefined,
  onClosed: () => undefined,
};

function openMemory() {
  const store = memoryStore();
  // It has nothing to read, so it is open at once.
  void store.log.open();
  return store.journal;
}
