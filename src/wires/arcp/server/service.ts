/**
 * The ARCP wire of an engine: agents on one side, sessions on the other. It goes along with the
 * engine, one term of leading at a time.
 *
 *   transports ─▶ Connection ─▶ Dispatch ─▶ Jobs ─▶ agents
 *        ▲                                    │ entries
 *        └── Output ◀── Session ◀── engine ◀──┘
 *
 * When the engine cannot write, all connections are closed and all agents stopped: what memory
 * holds is then ahead of the disk. The next term begins as a start does.
 */
import { randomFillSync } from "node:crypto";
import { namedBy } from "../../../core/by.ts";
import { SESSIONS } from "../../../core/jobs/limits.ts";
import type { Event } from "../../../core/events.ts";
import { Rate } from "../../../core/rate.ts";
import type { State } from "../../../core/state.ts";
import { ulids } from "../../../core/ulid.ts";
import type { Companion, Term } from "../../../engine/companion.ts";
import { JobAgents } from "../../../jobs/agents.ts";
import { JobService } from "../../../jobs/jobs.ts";
import type { Streams } from "../../../log/streams.ts";
import { systemClock } from "../../../machine/clock.ts";
import { FEATURES, type Feature } from "../codec/messages.ts";
import { Alarms, type AlarmListener } from "./alarms.ts";
import {
  ServerConnection,
  type ConnectionHost,
  type Greeter,
  type PermitMessage,
} from "./connection.ts";
import type { ArcpOptions } from "./options.ts";
import { OUTPUT } from "./session-limits.ts";
import { LiveSessions } from "./sessions.ts";
import type { Transport, TransportEnding } from "./transport.ts";
import type { Verifier } from "./verifiers.ts";

export interface ArcpServiceOptions extends ArcpOptions {
  /** The name of the node, as the engine has it. */
  readonly node: string;
  readonly streams: Streams;
  /** Without it every caller may send every message. */
  readonly permit?: PermitMessage;
}

export class ArcpService implements Companion {
  readonly agents = new JobAgents();
  readonly jobs: JobService;
  readonly #alarms: Alarms;
  readonly #sessions: LiveSessions;
  readonly #connections = new Set<ServerConnection>();
  /** Connections that came before the first term. */
  readonly #early: { readonly transport: Transport; readonly connection: ServerConnection }[] = [];
  readonly #host: ConnectionHost;
  #mode: "starting" | "leading" | "stopped" | "closed" = "starting";
  #onEnd: () => void = () => undefined;

  constructor(options: ArcpServiceOptions) {
    const { clock = systemClock, streams, onTrouble = () => undefined } = options;
    const newId = ulids({
      nowMs: () => clock.wallMs(),
      fillRandom: options.fillRandom ?? ((bytes) => randomFillSync(bytes)),
    });
    const limits = { ...SESSIONS, ...options.sessions };
    const { keptEvents, keptBytes, framesPerSecond } = limits;
    this.#alarms = new Alarms(clock);
    this.jobs = new JobService({
      node: options.node,
      streams,
      agents: this.agents,
      clock,
      provisioner: options.provisioner,
      observers: options.observers ?? [],
      authorizer: options.authorizer,
      around: options.around,
      limits: options.limits ?? {},
      kept: { events: keptEvents, bytes: keptBytes },
      newId,
      ownerOf: (sessionId) => this.#sessions.get(sessionId),
      onTrouble,
    });
    this.#sessions = new LiveSessions({
      streams,
      alarms: this.#alarms,
      jobs: this.jobs,
      limits,
      newId,
      permit: options.permit,
    });
    this.#host = {
      runtime: options.runtime,
      sessions: this.#sessions,
      greet: greeterOf(options.bearer),
      frames: new Rate(framesPerSecond, 2 * framesPerSecond),
      cancelBy: options.cancelBy ?? "session",
      permit: options.permit,
      features: () => (options.provisioner ? FEATURES : PLAIN_FEATURES),
      agents: () => this.agents.list(),
      onClosed: (connection) => this.#connections.delete(connection),
      onTrouble,
    };
  }

  async prepare(state: State): Promise<void> {
    const both = [this.#sessions.prepare(state), this.jobs.prepare(state)];
    // Also where one fails: nothing is begun anew while the other is still busy.
    for (const each of await Promise.allSettled(both)) {
      if (each.status === "rejected") throw each.reason;
    }
  }

  lead(term: Term): void {
    if (this.#mode === "closed") return;
    this.#mode = "leading";
    this.jobs.begin(term);
    this.#sessions.lead(term);
    this.jobs.revive();
    this.#sessions.follow(term);
    this.#sweepLater();
    for (const { transport, connection } of this.#early.splice(0)) transport.open(connection);
  }

  onEvent(event: Event): void {
    this.jobs.onEvent(event);
    this.#sessions.onEvent(event);
  }

  end(): void {
    if (this.#mode !== "leading") return;
    this.#mode = "stopped";
    this.#hangUp({ code: 1013, reason: "the runtime cannot write" });
    this.#sessions.end();
    this.jobs.end();
    this.#onEnd();
  }

  /** Serves one connection until it ends; a door may know better whose its token is. */
  accept(transport: Transport, greet = this.#host.greet): void {
    if (this.#mode === "closed" || this.#mode === "stopped") {
      transport.open(DEAF);
      transport.close({ code: 1013, reason: "the runtime is closed" });
      return;
    }
    const connection = new ServerConnection({ ...this.#host, greet }, transport);
    this.#connections.add(connection);
    if (this.#mode === "leading") transport.open(connection);
    else this.#early.push({ transport, connection });
  }

  /** The counts for gauges. */
  stats(): ArcpStats {
    const isLeading = this.#mode === "leading";
    return {
      connections: this.#connections.size,
      sessions: this.#sessions.size,
      jobs: isLeading ? this.jobs.state.jobs.byId.size : 0,
      waitingBytes: isLeading ? this.jobs.term.streamBytes : 0,
    };
  }

  readonly #sweeper: AlarmListener = {
    onAlarm: () => {
      if (this.#mode !== "leading") return;
      this.jobs.sweep();
      this.#sessions.sweep();
      this.#sweepLater();
    },
  };

  #sweepLater(): void {
    this.#alarms.set(this.#alarms.nowMs() + OUTPUT.sweepMs, this.#sweeper);
  }

  #hangUp(ending: TransportEnding): void {
    for (const connection of this.#connections) connection.close(ending);
  }

  /**
   * Idempotent. Connections are closed, running agents are told to stop; their jobs are left as
   * after a crash: they end, or run again, at the next start.
   */
  async close(): Promise<void> {
    if (this.#mode === "closed") return;
    this.#hangUp({ code: 1001, reason: "the runtime closes" });
    if (this.#mode === "leading") await this.#settled();
    this.#mode = "closed";
    this.#alarms.close();
    this.#sessions.end();
    this.jobs.end();
  }

  /** When all that was decided is durable, or never will be. */
  #settled(): Promise<void> {
    return new Promise((resolve) => {
      this.#onEnd = resolve;
      this.jobs.term.after(resolve);
    });
  }
}

/** The callers of a runtime that stands alone: it knows their names. */
function greeterOf(verify: Verifier): Greeter {
  const byOfName = (name: string | undefined) =>
    name === undefined ? undefined : namedBy(name, "library");
  return (token) => {
    const name = verify(token);
    return name instanceof Promise ? name.then(byOfName) : byOfName(name);
  };
}

export interface ArcpStats {
  readonly connections: number;
  /** Open, or waiting to be resumed. */
  readonly sessions: number;
  /** Running, waiting and kept. */
  readonly jobs: number;
  readonly waitingBytes: number;
}

const PLAIN_FEATURES: readonly Feature[] = FEATURES.filter(
  (feature) => feature !== "model.use" && feature !== "provisioned_credentials",
);

const DEAF = {
  onFrame: () => undefined,
  onDrained: () => undefined,
  onClosed: () => undefined,
};
