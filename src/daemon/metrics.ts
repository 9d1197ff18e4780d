/**
 * The page Prometheus reads. What the engine and the doors count themselves is taken over when the
 * page is asked for; only how long appends and calls take is measured as it happens.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { TaskClaims } from "../engine/claims.ts";
import type { DaemonArcp } from "./arcp/service.ts";
import type { Clock } from "../core/clock.ts";
import type { Engine, EngineMode } from "../engine/engine.ts";
import type { Meter } from "../net/grpc/service.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { OutpostService } from "../outposts/outposts.ts";
import type { AgentSearch } from "../search/agent-search.ts";
import type { SseStreams } from "../wires/api/sse.ts";
import type { Uplink } from "../wires/outpost/uplink.ts";
import type { McpWire } from "../wires/mcp/wire.ts";
import { CallSeconds } from "./call-seconds.ts";
import type { GrpcDoor } from "./grpc-door.ts";
import type { WaitingCounters } from "../net/waiting.ts";
import type { HttpDoor } from "./http-door.ts";
import type { RefusedConnections } from "./refused-connections.ts";
import { STATE_GAUGES, type StateGauge } from "./state-metrics.ts";

/** Looked at so often: a delay below is not seen, and more often would be work of its own. */
const LOOP_MS = 20;
const QUANTILES = [0.5, 0.99, 0.999, 1] as const;

const MODES: readonly EngineMode[] = ["loading", "following", "leading", "outdated", "closed"];

export interface ObservedParts {
  readonly engine: Engine;
  readonly http: HttpDoor;
  /** The registry's own door, where it has one. */
  readonly a2a: HttpDoor | undefined;
  readonly mcp: McpWire;
  readonly grpc: GrpcDoor;
  readonly waiting: WaitingCounters;
  readonly refused: RefusedConnections;
  readonly streams: SseStreams;
  readonly lookers: SseStreams;
  readonly claims: TaskClaims;
  readonly search: AgentSearch;
  readonly fleet: Fleet;
  readonly outposts: OutpostService;
  readonly uplink: Uplink | undefined;
  readonly arcp: DaemonArcp;
  readonly clock: Clock;
  readonly version: string;
}

export class Metrics {
  readonly #registry = new Registry();
  readonly #appendSeconds = new Histogram({
    name: "rollcall_append_seconds",
    help: "How long the log takes to make a batch durable.",
    buckets: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2],
    registers: [this.#registry],
  });
  readonly #appendEvents = new Histogram({
    name: "rollcall_append_events",
    help: "How many events a batch has.",
    buckets: [1, 4, 16, 64, 256, 1024, 4096],
    registers: [this.#registry],
  });

  readonly #calls = new Map<string, number>();
  readonly #callSeconds = new CallSeconds();

  readonly #loopDelay = monitorEventLoopDelay({ resolution: LOOP_MS });

  constructor() {
    this.#observeLoop();
    // Looked at a hundred times a second, as is usual, it would be most of what is done at rest.
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: 100 });
  }

  appended(events: number, tookMs: number): void {
    this.#appendSeconds.observe(tookMs / 1000);
    this.#appendEvents.observe(events);
  }

  /** The meter of a gRPC method. */
  meterOf(method: string): Meter {
    const seconds = this.#callSeconds.of(method);
    this.#calls.set(method, 0);
    return {
      served: () => this.#calls.set(method, (this.#calls.get(method) ?? 0) + 1),
      took: (elapsedMs) => seconds.add(elapsedMs / 1000),
    };
  }

  /** Called once, when there is something to look at. */
  observe(observed: ObservedParts): void {
    const { engine, version } = observed;
    this.#observeEngine(engine);
    for (const gauge of STATE_GAUGES) this.#observeState(gauge, observed);
    this.#observeDoors(observed);
    this.#observeWaiting(observed);
    this.#observeWork(observed);
    this.#observeFleet(observed);
    this.#observeOutposts(observed);
    this.#observeJobs(observed);
    this.#observeMcp(observed);
    this.#observeCalls();
    const build = new Gauge({
      name: "rollcall_build_info",
      help: "What runs here.",
      labelNames: ["version", "node"],
      registers: [this.#registry],
    });
    build.set({ version, node: engine.node }, 1);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  async page(): Promise<string> {
    return `${await this.#registry.metrics()}\n${this.#callSeconds.text()}`;
  }

  /** Forgets everything: several daemons of one process must not keep each other alive. */
  close(): void {
    this.#loopDelay.disable();
    this.#registry.clear();
  }

  /** How long callers waited because something else ran: since the last scrape. */
  #observeLoop(): void {
    const delay = new Gauge({
      name: "rollcall_loop_delay_seconds",
      help: "How late the loop came to its work since the last scrape.",
      labelNames: ["quantile"],
      registers: [this.#registry],
      collect: () => {
        const late = (ns: number) => Math.max(0, ns / 1e9 - LOOP_MS / 1000);
        for (const each of QUANTILES) {
          delay.set({ quantile: String(each) }, late(this.#loopDelay.percentile(100 * each)));
        }
        this.#loopDelay.reset();
      },
    });
    this.#loopDelay.enable();
  }

  #observeEngine(engine: Engine): void {
    const { stats } = engine;
    this.#counter("rollcall_commands_total", "Commands decided.", () => stats.commands);
    this.#counter("rollcall_refusals_total", "Commands refused.", () => stats.refusals);
    this.#counter("rollcall_heartbeats_total", "Heartbeats taken.", () => stats.heartbeats);
    this.#counter("rollcall_appends_total", "Batches made durable.", () => stats.appends);
    this.#counter("rollcall_rebuilds_total", "Rebuilds after a failure.", () => stats.rebuilds);
    this.#counter(
      "rollcall_log_diverged_total",
      "Times the log had lost acknowledged entries.",
      () => stats.divergences,
    );
    this.#counter("rollcall_snapshots_total", "Snapshots saved.", () => engine.snapshotCount);
    this.#gauge("rollcall_watches_open", "Watches that are open.", () => engine.watches.open);
    this.#counter("rollcall_watches_cut_total", "Watches cut.", () => engine.watches.cut);
    this.#gauge("rollcall_log_head", "Sequence of the last durable event.", () => engine.head);
    const events = new Counter({
      name: "rollcall_events_total",
      help: "Events made durable, by topic.",
      labelNames: ["topic"],
      registers: [this.#registry],
      collect: () => {
        events.reset();
        for (const [topic, count] of stats.topics) events.inc({ topic }, count);
      },
    });
    const mode = new Gauge({
      name: "rollcall_mode",
      help: "1 for the mode of this node.",
      labelNames: ["mode"],
      registers: [this.#registry],
      collect: () => {
        for (const each of MODES) mode.set({ mode: each }, engine.mode === each ? 1 : 0);
      },
    });
  }

  #observeState({ name, help, label, read }: StateGauge, { engine, clock }: ObservedParts): void {
    const gauge = new Gauge({
      name,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [this.#registry],
      collect: () => {
        const value = engine.peek((state) => read(state, clock.wallMs()));
        if (typeof value === "number") gauge.set(value);
        else {
          for (const [key, each] of Object.entries(value)) gauge.set({ [label ?? ""]: key }, each);
        }
      },
    });
  }

  #observeWork({ claims, search, streams, lookers }: ObservedParts): void {
    this.#gauge("rollcall_claims_waiting", "Calls that wait for a task.", () => claims.waiting);
    this.#gauge("rollcall_event_streams_open", "Event streams over HTTP.", () => streams.open);
    this.#gauge("rollcall_fleet_streams_open", "Streams of the fleet.", () => lookers.open);
    this.#gauge(
      "rollcall_search_documents",
      "Agents that find looks through.",
      () => search.stats.documents,
    );
    this.#gauge(
      "rollcall_search_unembedded",
      "Of those: agents without a vector yet, found by their words only.",
      () => search.stats.unembedded,
    );
  }

  #observeOutposts({ outposts: { counts }, uplink }: ObservedParts): void {
    const news = "Reports of outposts that said something new.";
    this.#counter("rollcall_outpost_joins_total", "Outposts that joined.", () => counts.joins);
    this.#counter("rollcall_outpost_reports_total", news, () => counts.reports);
    const refused = "Reports of outposts that were refused.";
    this.#counter("rollcall_outpost_refused_total", refused, () => counts.refused);
    if (!uplink) return;
    const isUp = () => Number(uplink.status.state === "connected");
    this.#gauge("rollcall_uplink_connected", "Whether the team's daemon is reached.", isUp);
    this.#counter("rollcall_uplink_joins_total", "Joins to it.", () => uplink.counts.joins);
    this.#counter("rollcall_uplink_reports_total", "News sent to it.", () => uplink.counts.reports);
  }

  #observeFleet({ fleet, clock }: ObservedParts): void {
    const headlines = new Gauge({
      name: "rollcall_fleet",
      help: "Agents of all wires by headline.",
      labelNames: ["headline"],
      registers: [this.#registry],
      collect: () => {
        const { headlines: counts, openQuestions, askedAtMs } = fleet.numbers();
        for (const [headline, count] of Object.entries(counts)) headlines.set({ headline }, count);
        open.set(openQuestions);
        oldest.set(askedAtMs === null ? 0 : Math.max(0, clock.wallMs() - askedAtMs) / 1000);
      },
    });
    const open = new Gauge({
      name: "rollcall_questions_open",
      help: "Questions that wait for a person.",
      registers: [this.#registry],
    });
    const oldest = new Gauge({
      name: "rollcall_question_oldest_seconds",
      help: "Age of the question that has waited longest; 0 when none waits.",
      registers: [this.#registry],
    });
  }

  #observeJobs({ arcp }: ObservedParts): void {
    this.#counter("rollcall_job_events_total", "Events of jobs made durable.", () => arcp.events);
    const gauges = [
      ["rollcall_arcp_connections", "ARCP connections.", "connections"],
      ["rollcall_arcp_sessions", "ARCP sessions, open or waiting to be resumed.", "sessions"],
      ["rollcall_job_queue_bytes", "What jobs said and the disk has yet to take.", "waitingBytes"],
      ["rollcall_agent_processes", "Agents hosted in processes of their own.", "children"],
    ] as const;
    for (const [name, help, field] of gauges) {
      this.#gauge(name, help, () => arcp.numbers()[field]);
    }
    const restarts = "Restarts of agents' processes.";
    this.#counter("rollcall_agent_restarts_total", restarts, () => arcp.numbers().restarts);
  }

  #observeWaiting({ waiting, grpc, refused }: ObservedParts): void {
    const kinds = Object.entries(waiting);
    const bytes = new Gauge({
      name: "rollcall_waiting_bytes",
      help: "Bytes of requests that have not come whole, and of answers that were not read yet.",
      labelNames: ["of"],
      registers: [this.#registry],
      collect: () => {
        for (const [of, kind] of kinds) bytes.set({ of }, kind.bytes);
      },
    });
    const cuts = new Counter({
      name: "rollcall_waiting_cut_total",
      help: "Requests and connections that were cut because they held too much, or too long.",
      labelNames: ["of"],
      registers: [this.#registry],
      collect: () => {
        cuts.reset();
        for (const [of, kind] of kinds) cuts.inc({ of }, kind.cuts);
      },
    });
    this.#counter(
      "rollcall_grpc_floods_total",
      "gRPC connections that ended because the client did too much of what only costs us.",
      () => grpc.floods,
    );
    this.#counter(
      "rollcall_connections_refused_total",
      "Connections that were closed without a word because there were too many.",
      () => refused.total,
    );
  }

  #observeDoors({ http, a2a, grpc }: ObservedParts): void {
    const doors = a2a ? [http, a2a] : [http];
    const sum = (of: (door: HttpDoor) => number) =>
      doors.reduce((total, door) => total + of(door), 0);
    this.#counter("rollcall_http_requests_total", "HTTP requests.", () =>
      sum(({ stats }) => stats.requests),
    );
    this.#gauge("rollcall_http_connections", "HTTP connections.", () =>
      sum(({ connections }) => connections),
    );
    this.#gauge("rollcall_grpc_connections", "gRPC connections.", () => grpc.connections);
    const refusals = new Counter({
      name: "rollcall_http_refusals_total",
      help: "HTTP requests refused, by code.",
      labelNames: ["code"],
      registers: [this.#registry],
      collect: () => {
        refusals.reset();
        for (const { stats } of doors) {
          for (const [code, count] of stats.refusals) refusals.inc({ code }, count);
        }
      },
    });
  }

  #observeMcp({ mcp }: ObservedParts): void {
    const clients = new Gauge({
      name: "rollcall_mcp_clients",
      help: "Open at MCP clients: sessions, connections of the older kind, subscriptions.",
      labelNames: ["of"],
      registers: [this.#registry],
      collect: () => {
        const { sessions, connections, listeners } = mcp.clients;
        clients.set({ of: "sessions" }, sessions);
        clients.set({ of: "connections" }, connections);
        clients.set({ of: "listeners" }, listeners);
      },
    });
  }

  #observeCalls(): void {
    const calls = new Counter({
      name: "agentkeeper_rpc_total",
      help: "gRPC calls served, by method.",
      labelNames: ["method"],
      registers: [this.#registry],
      collect: () => {
        calls.reset();
        for (const [method, count] of this.#calls) calls.inc({ method }, count);
      },
    });
  }

  #counter(name: string, help: string, value: () => number): void {
    const counter = new Counter({
      name,
      help,
      registers: [this.#registry],
      collect: () => {
        counter.reset();
        counter.inc(value());
      },
    });
  }

  #gauge(name: string, help: string, value: () => number): void {
    const gauge = new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect: () => {
        gauge.set(value());
      },
    });
  }
}
