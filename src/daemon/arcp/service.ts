/**
 * ARCP in the daemon: the wire on the daemon's own engine, the agents of its config file, and the
 * policies that say who may submit what.
 *
 *   doors ──transport──▶ ArcpService ──▶ agents: modules, children
 *                           │ companion
 *                        engine
 */
import { ownBy } from "../../core/by.ts";
import type { Clock } from "../../core/clock.ts";
import type { Audit } from "../../engine/audit.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import { policyAuthorizer } from "../../jobs/entitlement.ts";
import type { JobObserver } from "../../jobs/observer.ts";
import type { Streams } from "../../log/streams.ts";
import { ACCESS, permitBy, type PolicySource } from "../../operations/access.ts";
import { ArcpService } from "../../wires/arcp/server/service.ts";
import type { Transport } from "../../wires/arcp/server/transport.ts";
import type { Greeter } from "../../wires/arcp/server/connection.ts";
import type { RelayTerms } from "../../wires/members/client/relay.ts";
import type { Logger } from "../logger.ts";
import { permitMessages } from "./accesses.ts";
import { AgentRows } from "./agent-rows.ts";
import type { AgentConfig } from "./agents-config.ts";
import { HostedAgents } from "./hosted-agents.ts";
import { relayTransport, type OpenRelay } from "./relay.ts";

export interface DaemonArcpOptions {
  readonly agents: readonly AgentConfig[];
  readonly node: string;
  readonly streams: Streams;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  readonly audit?: Pick<Audit, "denied">;
}

export interface ArcpNumbers {
  readonly connections: number;
  readonly sessions: number;
  readonly waitingBytes: number;
  readonly children: number;
  readonly restarts: number;
}

export class DaemonArcp implements AsyncDisposable {
  /** Goes along with the engine. */
  readonly companion: ArcpService;
  readonly #rows: AgentRows;
  readonly #hosted: HostedAgents;
  #relay: { readonly leading: () => boolean; readonly open: OpenRelay } | undefined;
  #closing: Promise<void> | undefined;
  /** Since the start: what jobs said. */
  events = 0;

  private constructor(options: DaemonArcpOptions, rows: AgentRows, hosted: HostedAgents) {
    this.#rows = rows;
    this.#hosted = hosted;
    this.companion = this.#newService(options);
    for (const { config, driver } of hosted.all) {
      const { name, version, isDefault, restart } = config;
      const which = version === undefined ? {} : { version, isDefault };
      this.companion.agents.register(name, driver, { ...which, restart });
    }
  }

  /** Loads the agents; the engine, opened with `companion`, comes next. */
  static async start(options: DaemonArcpOptions): Promise<DaemonArcp> {
    const { node, clock, logger } = options;
    const onTrouble = (what: string, error: unknown) => logger.warn({ err: error }, what);
    const rows = new AgentRows({ node, clock, onTrouble });
    const hosted = await HostedAgents.start(options.agents, { ...options, rows });
    return new DaemonArcp(options, rows, hosted);
  }

  #newService(options: DaemonArcpOptions): ArcpService {
    const { node, streams, clock, version, logger, audit } = options;
    const counter: JobObserver = { onEvent: () => void (this.events += 1) };
    const engine: PolicySource = { peek: (select) => select(service.jobs.state) };
    const service: ArcpService = new ArcpService({
      runtime: { name: "rollcall", version },
      node,
      streams,
      clock,
      bearer: () => undefined,
      cancelBy: "principal",
      authorizer: {
        ...policyAuthorizer({ engine }),
        onDenied: (by, agent, reason) =>
          audit?.denied({ by, action: ACCESS.submit.action, target: `agent:${agent}` }, reason),
      },
      permit: permitMessages(permitBy(engine, (act, reason) => audit?.denied(act, reason))),
      observers: [counter],
      onTrouble: (what, error) => logger.warn({ err: error }, what),
    });
    return service;
  }

  /** The fleet is there. */
  open(fleet: Pick<Fleet, "report">): void {
    this.#rows.open((report) => fleet.report(report, ownBy("daemon")));
  }

  /** Of several nodes only the one that leads runs jobs: connections are handed on to it. */
  relayBy(leading: () => boolean, open: OpenRelay): void {
    this.#relay = { leading, open };
  }

  /** One connection that a door let in, which knows the caller of a token. */
  accept(transport: Transport, greet: Greeter): void {
    const relay = this.#relay;
    if (relay && !relay.leading()) relayTransport(transport, greet, relay.open);
    else this.companion.accept(transport, greet);
  }

  /** One that another member hands on, which has looked at its caller. */
  acceptRelayed(transport: Transport, caller: RelayTerms): void {
    this.companion.accept(transport, () => {
      if ("refusal" in caller) throw caller.refusal;
      return caller.by;
    });
  }

  numbers(): ArcpNumbers {
    const { connections, sessions, waitingBytes } = this.companion.stats();
    const { children, restarts } = this.#hosted;
    return { connections, sessions, waitingBytes, children, restarts };
  }

  /** Pending writes become durable; running jobs are left as after a crash. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#rows.close();
    await this.companion.close();
    await this.#hosted.close();
  }
}
