/**
 * The doors of a daemon, and what is behind each: the one place where wires are mounted. HTTP is
 * always there, gRPC unless it is off; A2A and ARCP, which HTTP serves as well, may have ports of
 * their own.
 *
 * A taken port stops the daemon: commands would talk to whatever has it. Only the drop-in for
 * agentkeeper, which programs bring along side by side, takes a free port for HTTP and says so.
 */
import type { By } from "../core/by.ts";
import type { Clock } from "../core/clock.ts";
import type { Audit } from "../engine/audit.ts";
import type { Engine } from "../engine/engine.ts";
import type { Store } from "../log/store.ts";
import { openFilesMost } from "../machine/open-files.ts";
import { ACCESS, type Permit } from "../operations/access.ts";
import type { DaemonStatus } from "../operations/daemon.ts";
import { a2aMount, type A2aOptions } from "../wires/a2a/server/a2a.ts";
import { EventStreams } from "../wires/api/event-stream.ts";
import { EVENT_STREAM } from "../wires/api/limits.ts";
import { apiRoutes } from "../wires/api/routes.ts";
import { SseStreams } from "../wires/api/sse.ts";
import { Health as HealthService } from "../net/grpc/gen/grpc/health/v1/health_pb.ts";
import { Health } from "../net/grpc/health.ts";
import { ADMITTED, type WholeAnswer } from "../wires/route.ts";
import { addKeeper } from "../wires/keeper/server/services.ts";
import { servedDirectory } from "../wires/mcp/directory.ts";
import { McpWire } from "../wires/mcp/wire.ts";
import { formatAddress, type Address } from "./address.ts";
import { arcpMount } from "./arcp/mount.ts";
import type { DaemonArcp } from "./arcp/service.ts";
import type { Cluster } from "./members/cluster.ts";
import { clusterOperations } from "./members/operations.ts";
import type { Authenticator } from "../identity/caller.ts";
import type { BearerTokens } from "../identity/tokens.ts";
import { HTTP_LIMITS, OPEN_FILES } from "./limits.ts";
import { CallRate } from "./call-rate.ts";
import { LocalSocket } from "./local-socket.ts";
import type { Config } from "./config.ts";
import { answersOthers, exposureOf } from "./exposure.ts";
import { GrpcDoor } from "./grpc-door.ts";
import { HttpDoor } from "./http-door.ts";
import { bindError, isTaken } from "./listen.ts";
import type { Logger } from "./logger.ts";
import type { Metrics } from "./metrics.ts";
import { pageRoutes } from "./page.ts";
import { RefusedConnections } from "./refused-connections.ts";
import type { DaemonServices } from "./services.ts";
import { teamOf } from "./uplink.ts";
import type { KeyPair } from "../net/tls/pair.ts";
import { newWaiting, type WaitingCounters } from "../net/waiting.ts";

export interface DoorsOptions {
  readonly config: Config;
  readonly engine: Engine;
  readonly services: DaemonServices;
  readonly arcp: DaemonArcp;
  /** Where the log is shared with other nodes. */
  readonly cluster: Cluster | undefined;
  readonly store: Store;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly authenticator: Authenticator;
  /** A caller was refused because nobody knows it. */
  readonly onStranger: (by: By, reason: string) => void;
  readonly permit: Permit;
  readonly audit: Audit;
  readonly tokens: BearerTokens;
  /** Absent: all connections are plain. */
  readonly pair: KeyPair | undefined;
  readonly clock: Clock;
  readonly version: string;
  /** The last thing that went wrong below. */
  readonly trouble: () => string;
}

export interface Doors {
  readonly grpcAddress: Address | undefined;
  readonly httpAddress: Address;
  readonly arcpAddress: Address | undefined;
  readonly a2aAddress: Address | undefined;
  /** The path of the unix socket. */
  readonly socket: string | undefined;
  /** Resolves when a door broke after it was open. */
  readonly failed: Promise<Error>;
  stopAccepting(): void;
  close(graceMs: number): Promise<void>;
}

/** With what the doors of a process share. */
interface SharingOptions extends DoorsOptions {
  readonly waiting: WaitingCounters;
  readonly calls: CallRate;
  readonly refused: RefusedConnections;
  /** At a time, for each door. */
  readonly connections: number;
}

export async function openDoors(given: DoorsOptions): Promise<Doors> {
  const { config, authenticator, logger, clock } = given;
  const refused = new RefusedConnections({
    clock,
    warn: (numbers, message) => logger.warn(numbers, message),
  });
  const connections = connectionsOfADoor();
  const calls = new CallRate(config.rateLimit, () => clock.monotonicMs());
  const options = { ...given, waiting: newWaiting(clock), calls, refused, connections };
  const http = newHttpDoor(options);
  const a2a = config.a2a.addr && newHttpDoor(options);
  const { arcpAddr } = config;
  const arcp = arcpAddr && { door: newHttpDoor(options), address: arcpAddr };
  const grpc = new GrpcDoor({
    authenticator,
    permit: options.permit,
    pair: options.pair,
    calls,
    waiting: options.waiting,
    connections,
    onRefused: refused.add,
    meterOf: (method) => options.metrics.meterOf(method),
    onFault: (method, error) => logger.error({ err: error, method }, "a call failed"),
  });
  const doors = [grpc, http, ...(a2a ? [a2a] : []), ...(arcp ? [arcp.door] : [])];
  const mcp = mcpWire(options);
  let socket: LocalSocket | undefined;
  const close = async (graceMs: number) => {
    socket?.close();
    await mcp.close();
    await Promise.all(doors.map((door) => door.close(graceMs)));
    options.tokens.close();
    for (const kind of Object.values(options.waiting)) kind.close();
    refused.close();
  };
  try {
    // Wires first: a caller that gets in finds everything there.
    const bound = { grpc: config.addr, http: config.httpAddr };
    mountOnHttp(http, { ...options, bound, grpc, a2a, mcp });
    for (const door of a2a ? [http, a2a] : [http]) {
      door.mount(a2aMount(registryOf(options)));
      door.mount({ routes: mcp.routes() });
    }
    const health = mountOnGrpc(grpc, options);
    bound.grpc = await openGrpc(grpc, config);
    bound.http = await openHttp(http, config, logger);
    const behind = { http: http.listener, grpc: grpc.listener };
    if (config.socket !== undefined) socket = await LocalSocket.open(config.socket, behind);
    const a2aAddress = a2a && (await openA2a(a2a, config));
    const arcpAddress = arcp && (await openArcp(arcp.door, arcp.address, options));
    return {
      grpcAddress: bound.grpc,
      httpAddress: bound.http,
      a2aAddress,
      arcpAddress,
      socket: config.socket,
      failed: Promise.race(doors.map((door) => door.failed)),
      stopAccepting: () => {
        health.close();
        void mcp.close();
        socket?.close();
        for (const door of doors) door.stopAccepting();
      },
      close,
    };
  } catch (error) {
    await close(0);
    throw error;
  }
}

/** Where the process may open few files they are shared: what it cannot open is closed unheard. */
function connectionsOfADoor(): number {
  const share = Math.floor((openFilesMost() - OPEN_FILES.reserved) / OPEN_FILES.doors);
  return Math.min(HTTP_LIMITS.connections, Math.max(share, OPEN_FILES.least));
}

function newHttpDoor(options: SharingOptions): HttpDoor {
  const { config, authenticator, pair, logger, waiting } = options;
  return new HttpDoor({
    authenticator,
    permit: options.permit,
    pair,
    waiting,
    limits: { connections: options.connections },
    onRefused: options.refused.add,
    allowedHosts: config.allowedHosts,
    calls: options.calls,
    onFault: (error) => logger.error({ err: error }, "a request failed"),
  });
}

async function openArcp(
  door: HttpDoor,
  address: Address,
  options: SharingOptions,
): Promise<Address> {
  door.mount(arcpMount(options));
  try {
    return await door.listen(address);
  } catch (error) {
    throw bindError("arcp-addr", address, error);
  }
}

async function openGrpc(door: GrpcDoor, { addr }: Config): Promise<Address | undefined> {
  if (!addr) return undefined;
  try {
    return await door.listen(addr);
  } catch (error) {
    throw bindError("addr", addr, error);
  }
}

async function openA2a(door: HttpDoor, { a2a: { addr } }: Config): Promise<Address | undefined> {
  if (!addr) return undefined;
  try {
    return await door.listen(addr);
  } catch (error) {
    throw bindError("a2a-addr", addr, error);
  }
}

function registryOf({ services, permit, config: { a2a } }: DoorsOptions): A2aOptions {
  return { directory: services.directory, permit, version: a2a.version };
}

async function openHttp(door: HttpDoor, config: Config, logger: Logger): Promise<Address> {
  const { httpAddr, httpMayMove } = config;
  try {
    return await door.listen(httpAddr);
  } catch (error) {
    if (!httpMayMove || !isTaken(error)) throw bindError("http-addr", httpAddr, error);
  }
  logger.warn(
    { taken: formatAddress(httpAddr) },
    "the default HTTP port is taken: using a free one",
  );
  return door.listen({ ...httpAddr, port: 0 });
}

interface MountOptions extends SharingOptions {
  readonly bound: { readonly grpc: Address | undefined; readonly http: Address };
  readonly grpc: GrpcDoor;
  readonly a2a: HttpDoor | undefined;
  readonly mcp: McpWire;
}

function mountOnHttp(http: HttpDoor, options: MountOptions): void {
  const { engine, services, clock, metrics } = options;
  const { http_answers: answers } = options.waiting;
  const streams = new EventStreams({ engine, clock, answers });
  const lookers = new SseStreams({ clock, answers, maxStreams: EVENT_STREAM.lookers });
  metrics.observe({ ...options, ...services, http, streams, lookers });
  http.mount(arcpMount(options));
  const startedAt = new Date().toISOString();
  http.mount({
    hot: {
      "/v1/events": { access: ACCESS.events, handle: streams.serve },
    },
    routes: apiRoutes({
      engine,
      permit: options.permit,
      claims: services.claims,
      fleet: services.fleet,
      outposts: services.outposts,
      directory: services.directory,
      search: services.search,
      audit: options.audit,
      cluster: options.cluster && clusterOperations(options.cluster, options),
      streams,
      lookers,
      clock,
      metrics,
      status: () => statusOf(options, startedAt),
    }),
  });
  http.mount({ routes: pageRoutes() });
  http.mount({
    anybody: {
      "/healthz": () => word(200, "ok"),
      "/readyz": () =>
        notReady(options) === undefined ? word(200, readyWord(options)) : word(503, "not ready"),
    },
  });
}

function word(status: number, body: string): WholeAnswer {
  return { status, headers: ["Content-Type", "text/plain"], body };
}

function mcpWire(options: SharingOptions): McpWire {
  const { engine, services, clock, logger, version } = options;
  return new McpWire({
    engine,
    permit: options.permit,
    claims: services.claims,
    fleet: services.fleet,
    search: services.search,
    directory: servedDirectory(services.directory, engine),
    clock,
    version,
    answers: options.waiting.http_answers,
    onFault: (error) => logger.error({ err: error }, "a tool failed"),
    onTrouble: (what, error) => logger.warn({ err: error }, what),
  });
}

function mountOnGrpc(grpc: GrpcDoor, options: DoorsOptions): Health {
  const { engine, services, permit } = options;
  const health = new Health({
    isServing: () => notReady(options) === undefined,
    services: () => grpc.services.map(({ typeName }) => typeName),
    after: (ms, then) => options.clock.after(ms, then),
  });
  grpc.add(HealthService, health.handlers, { accesses: ADMITTED });
  addKeeper(grpc, { engine, claims: services.claims, finder: services.search, permit });
  if (options.config.reflection) grpc.addReflection();
  return health;
}

/** Of a member also its part: a balancer may prefer the one that leads. */
function readyWord({ cluster, engine }: DoorsOptions): string {
  return cluster ? `ready, ${engine.mode}` : "ready";
}

/** A single node that cannot write has no other to forward to. */
function notReady({ engine, store, cluster, trouble }: DoorsOptions): string | undefined {
  const { mode } = engine;
  if (mode === "leading") return undefined;
  if (mode === "following" && store.log.shared) {
    return cluster && cluster.leader === undefined
      ? "this node follows, and nobody leads"
      : undefined;
  }
  const why = trouble();
  return why === "" ? `this node is ${mode}` : `this node is ${mode}: ${why}`;
}

function statusOf(options: MountOptions, startedAt: string): DaemonStatus {
  const { engine, store, version, config, bound, services } = options;
  return {
    version,
    node: engine.node,
    mode: engine.mode,
    head: engine.head,
    pid: process.pid,
    startedAt,
    ...(bound.grpc && { grpcAddress: formatAddress(bound.grpc) }),
    httpAddress: formatAddress(bound.http),
    state: store.description,
    trouble: notReady(options) ?? "",
    loopbackOnly: !answersOthers(config),
    ...(services.uplink && { team: teamOf(services.uplink, config) }),
    exposure: [...exposureOf(config)],
  };
}
