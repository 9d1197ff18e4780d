/**
 * Real NATS servers for tests: three of them as one cluster with JetStream, each with a folder of
 * its own in the temporary folder, on loopback and free ports, synced at every append. They are
 * ended by their process ids.
 *
 *   const servers = await NatsCluster.start();
 *   servers.url("fleet")   nats://127.0.0.1:PORT,127.0.0.1:PORT,127.0.0.1:PORT/fleet
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
// tidy-allow sleep: nothing tells when servers have found each other, so they are asked again
import { setTimeout as pause } from "node:timers/promises";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { NATS_SERVER } from "../../../scripts/prerequisites.mjs";
import { Cable } from "../cable.ts";

const START_MS = 30_000;

export interface NatsOptions {
  /** How many. */
  readonly servers?: number;
  /** Lines of the configuration in place of those below. */
  readonly syncInterval?: string;
  readonly maxPayload?: string;
  readonly authorization?: string;
  /** More lines: TLS, operators; then an operator's calls are not made. */
  readonly more?: string;
  /** Of JetStream on each server. */
  readonly maxFile?: string;
  /** The folder that theirs is made in. */
  readonly within?: string;
  /** Whether they reach each other through cables, so that one can be cut off from the others. */
  readonly isWired?: boolean;
}

interface Ports {
  readonly client: number;
  readonly route: number;
  readonly monitor: number;
}

interface ServerSetup {
  readonly name: string;
  readonly folder: string;
  readonly ports: Ports;
  /** Of its configuration. */
  readonly text: string;
}

export class NatsServer {
  readonly name: string;
  readonly ports: Ports;
  readonly #folder: string;
  readonly #configuration: string;
  #process: ChildProcess | undefined;
  #said = "";

  constructor({ name, folder, ports, text }: ServerSetup) {
    this.name = name;
    this.ports = ports;
    this.#folder = folder;
    this.#configuration = join(folder, `${name}.conf`);
    writeFileSync(this.#configuration, text);
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  get isRunning(): boolean {
    return this.#process?.exitCode === null && this.#process.signalCode === null;
  }

  get said(): string {
    return this.#said;
  }

  start(): void {
    const options = { stdio: ["ignore", "ignore", "pipe"] as ["ignore", "ignore", "pipe"] };
    const running = spawn(NATS_SERVER, ["-c", this.#configuration], {
      ...options,
      cwd: this.#folder,
    });
    running.stderr.on("data", (text: Buffer) => {
      this.#said = (this.#said + text.toString()).slice(-4096);
    });
    this.#process = running;
  }

  /** SIGKILL: nothing is flushed, nobody is told. */
  async end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const running = this.#process;
    if (!running || !this.isRunning) return;
    const ended = once(running, "exit");
    running.kill(signal);
    await ended;
  }

  /** Of one that was ended. */
  loseDisk(): void {
    rmSync(join(this.#folder, this.name), { recursive: true, force: true });
  }

  pause(): void {
    this.#process?.kill("SIGSTOP");
  }

  resume(): void {
    this.#process?.kill("SIGCONT");
  }
}

export class NatsCluster {
  readonly servers: readonly NatsServer[];
  readonly #folder: string;
  readonly #login: string;
  readonly #routes: readonly RouteCable[];
  #connection: NatsConnection | undefined;

  private constructor({ folder, servers, login, routes }: ClusterParts) {
    this.#folder = folder;
    this.servers = servers;
    this.#login = login;
    this.#routes = routes;
  }

  /** The cables between a server and the others. */
  cablesOf(server: NatsServer): readonly Cable[] {
    const index = this.servers.indexOf(server);
    const own = this.#routes.filter(({ from, to }) => from === index || to === index);
    return own.map(({ cable }) => cable);
  }

  static async start(options: NatsOptions = {}): Promise<NatsCluster> {
    const folder = mkdtempSync(join(options.within ?? tmpdir(), "rollcall-nats-"));
    const ports = await freePorts(options.servers ?? 3);
    const routes = options.isWired === true ? await routeCables(ports) : [];
    const servers = ports.map((own, index) => {
      const text = configurationOf(ports, { ...options, index, routes });
      return new NatsServer({ name: `n${index + 1}`, folder, ports: own, text });
    });
    const login = options.authorization ? "admin:admin@" : "";
    const cluster = new NatsCluster({ folder, servers, login, routes });
    for (const server of servers) server.start();
    await cluster.untilReady();
    return cluster;
  }

  /** Of a log. */
  url(name: string): string {
    return `nats://${this.#places().join(",")}/${name}`;
  }

  get monitors(): readonly string[] {
    return this.servers.map(({ ports }) => `http://127.0.0.1:${ports.monitor}`);
  }

  #places(): string[] {
    return this.servers.map(({ ports }) => `127.0.0.1:${ports.client}`);
  }

  /** Until JetStream has a leader and all servers are there. */
  async untilReady(): Promise<void> {
    for (const endsMs = Date.now() + START_MS; Date.now() < endsMs; await pause(50)) {
      const healthy = await Promise.all(this.monitors.map((url) => isHealthy(url)));
      if (healthy.every(Boolean) && (await this.#hasAll())) return;
    }
    throw new Error(`NATS does not start: ${this.servers.map(({ said }) => said).join("\n")}`);
  }

  async #hasAll(): Promise<boolean> {
    const [first = ""] = this.monitors;
    if (this.servers.length === 1) return true;
    const answer = await fetch(`${first}/jsz?raft=true`);
    const { meta_cluster: meta } = (await answer.json()) as MetaCluster;
    return Boolean(meta?.leader) && meta?.cluster_size === this.servers.length;
  }

  async #connected(): Promise<NatsConnection> {
    this.#connection ??= await connect({
      servers: this.#places().map((place) => `${this.#login}${place}`),
      maxReconnectAttempts: -1,
      reconnectTimeWait: 100,
      ...(this.#login !== "" && { user: "admin", pass: "admin" }),
    });
    return this.#connection;
  }

  /** A call of JetStream's interface, as an operator's tool makes it. */
  async call<Answer = Record<string, unknown>>(subject: string, request = {}): Promise<Answer> {
    const connection = await this.#connected();
    const answer = await connection.request(`$JS.API.${subject}`, JSON.stringify(request), {
      timeout: 5000,
    });
    const said = answer.json<Answer & { readonly error?: { readonly description: string } }>();
    if (said.error) throw new Error(`${subject}: ${said.error.description}`);
    return said;
  }

  /** The server that leads a stream, once there is one. */
  async leaderOf(stream: string): Promise<NatsServer> {
    for (const endsMs = Date.now() + START_MS; Date.now() < endsMs; await pause(50)) {
      const info = await this.call<StreamInfo>(`STREAM.INFO.${stream}`).catch(() => undefined);
      const leader = this.servers.find(({ name }) => name === info?.cluster?.leader);
      if (leader?.isRunning) return leader;
    }
    throw new Error(`nobody leads ${stream}`);
  }

  /** All of them, and the folder goes. */
  async stop(): Promise<void> {
    await this.#connection?.close();
    for (const server of this.servers) server.resume();
    await Promise.all(this.servers.map((server) => server.end("SIGKILL")));
    for (const { cable } of this.#routes) cable.close();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
}

interface StreamInfo {
  readonly cluster?: { readonly leader?: string };
}

interface MetaCluster {
  readonly meta_cluster?: { readonly leader?: string; readonly cluster_size?: number };
}

async function isHealthy(monitor: string): Promise<boolean> {
  try {
    return (await fetch(`${monitor}/healthz`)).ok;
  } catch {
    return false;
  }
}

/** From one server to another. */
interface RouteCable {
  readonly from: number;
  readonly to: number;
  readonly cable: Cable;
}

interface ClusterParts {
  readonly folder: string;
  readonly servers: readonly NatsServer[];
  readonly login: string;
  readonly routes: readonly RouteCable[];
}

async function routeCables(ports: readonly Ports[]): Promise<RouteCable[]> {
  const pairs = ports.flatMap((_, from) => ports.map((_own, to) => ({ from, to })));
  const routes = pairs.filter(({ from, to }) => from !== to);
  return Promise.all(
    routes.map(async (route) => {
      const cable = await Cable.open();
      cable.port = ports[route.to]?.route ?? 0;
      return { ...route, cable };
    }),
  );
}

interface ServerOptions extends NatsOptions {
  readonly index: number;
  readonly routes: readonly RouteCable[];
}

function configurationOf(all: readonly Ports[], options: ServerOptions): string {
  const { index, routes: cables } = options;
  const name = `n${index + 1}`;
  const own = all[index] ?? { client: 0, route: 0, monitor: 0 };
  const { syncInterval = "always", maxPayload = "8MB", authorization = "" } = options;
  const wired = cables.filter(({ from }) => from === index).map(({ cable }) => cable.host);
  const others = wired.length > 0 ? wired : all.map(({ route }) => `127.0.0.1:${route}`);
  const routes = others.map((host) => `"nats://${host}"`).join(", ");
  // They tell each other and their clients no way past the cables.
  const secrecy = wired.length > 0 ? 'advertise: "127.0.0.1:1", no_advertise: true,' : "";
  const listen = `listen: "127.0.0.1:${own.route}"`;
  const cluster = `cluster { name: test, ${listen}, ${secrecy} routes: [${routes}] }`;
  return `
    server_name: ${name}
    listen: "127.0.0.1:${own.client}"
    http: "127.0.0.1:${own.monitor}"
    max_payload: ${maxPayload}
    jetstream {
      store_dir: "${name}"
      sync_interval: ${syncInterval}
      max_file: ${options.maxFile ?? "10GB"}
      limits { batch { max_msgs: 20000 } }
    }
    ${authorization}
    ${options.more ?? ""}
    ${all.length > 1 ? cluster : ""}`;
}

async function freePorts(servers: number): Promise<Ports[]> {
  const open = Array.from({ length: 3 * servers }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(open.map((server) => once(server, "listening")));
  const ports = open.map((server) => {
    const address = server.address();
    return typeof address === "object" && address ? address.port : 0;
  });
  await Promise.all(open.map((server) => once(server.close(), "close")));
  return Array.from({ length: servers }, (_, index) => {
    const [client = 0, route = 0, monitor = 0] = ports.slice(3 * index);
    return { client, route, monitor };
  });
}
