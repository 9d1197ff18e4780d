/**
 * Talks to a daemon over the keeper wire: who is here, who holds what, who leads, who may, and what
 * is to be done.
 *
 *   await using keeper = connect();
 *   await using agent = await keeper.register({ name: "scraper-1", tools: ["browser"] });
 *   await using lease = await agent.acquireLease("task:invoice-42");
 *
 * The connection is opened with the first call and again whenever it was lost. Only who waits for
 * an answer keeps the process alive: an idle client, its heartbeats included, does not.
 */
import type { AccessRequest } from "../../../core/policies.ts";
import { TTL } from "../../../core/limits.ts";
import type { Clock } from "../../../core/clock.ts";
import { systemClock } from "../../../machine/clock.ts";
import { GrpcChannel } from "../../../net/grpc/client-channel.ts";
import type { ClientLimits } from "../../../net/grpc/client-limits.ts";
import { bearer } from "../../../net/http/request.ts";
import { localToken } from "../../../net/http/target.ts";
import { findToken } from "../../../net/http/token.ts";
import type { ServerTrust } from "../../../net/tls/trust.ts";
import { socketPath } from "../../../machine/places.ts";
import { RegistryService } from "../gen/agentkeeper/v1/agentkeeper_pb.ts";
import { acquire, acquireInTime, type AcquireOptions } from "./acquire.ts";
import { DEFAULT_ADDRESS, keeperAddress } from "./address.ts";
import { KeeperAgent } from "./agent.ts";
import { agentFrom, secondsOf } from "./from-wire.ts";
import type { LeaseHandle } from "./lease.ts";
import { PACE } from "./limits.ts";
import { KeeperPolicies } from "./policies.ts";
import { AgentPresence, type AgentState } from "./presence.ts";
import { KeeperTasks } from "./tasks.ts";
import type { AgentCard, AgentInfo, PolicyVerdict } from "./types.ts";
import { KeeperWatch, type KeeperWatchOptions } from "./watch.ts";
import { KeeperWire, type KeeperCallOptions } from "./wire.ts";

export interface KeeperConnectOptions {
  /** HOST:PORT of the daemon's gRPC door; unless said ROLLCALL_ADDR, or 127.0.0.1:7070. */
  readonly address?: string;
  /**
   * The bearer token to present. Unless said: ROLLCALL_TOKEN where no address was given, else that
   * of this user, where its daemon made one.
   */
  readonly token?: string;
  /**
   * The path of the daemon's own socket, which is used where it is there; false for none. Unless
   * said: that of this user's daemon, where the address is the usual one.
   */
  readonly socket?: string | false;
  /** How to know the daemon, over TLS; absent: the connection is plain. */
  readonly trust?: ServerTrust;
  /** How long a call waits for its answer, a daemon that is away included. */
  readonly timeoutMs?: number;
  /** For tests: time moved by hand, and chance that is none. */
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly limits?: Partial<ClientLimits>;
}

export interface RegisterOptions extends Partial<AgentCard>, KeeperCallOptions {
  readonly name: string;
  /** After how long without a heartbeat it counts as unreachable, and after twice that as dead. */
  readonly ttlMs?: number;
  /** Whether it registers again, under a new id, when it was declared dead: yes unless said. */
  readonly reregister?: boolean;
  readonly onState?: (state: AgentState) => void;
}

export interface FindOptions extends KeeperCallOptions {
  /** The skill to look for, in plain words; the best match comes first. */
  readonly query?: string;
  /** It must have all of these. */
  readonly tools?: readonly string[];
  readonly limit?: number;
}

export type AcquireForOptions = AcquireOptions & { readonly agentId: string };

export class Keeper implements AsyncDisposable {
  readonly address: string;
  readonly policies: KeeperPolicies;
  readonly tasks: KeeperTasks;
  readonly #wire: KeeperWire;
  #closing: Promise<void> | undefined;

  constructor(options: KeeperConnectOptions = {}) {
    const { clock = systemClock, random = Math.random, limits = {} } = options;
    this.address = keeperAddress(options.address ?? process.env["ROLLCALL_ADDR"]);
    const { socket = this.address === DEFAULT_ADDRESS && socketPath() } = options;
    const channel = new GrpcChannel({
      address: this.address,
      timers: clock,
      random,
      limits,
      socket: socket === false ? undefined : socket,
      trust: options.trust,
      metadata: bearer(tokenFor(this.address, options)),
    });
    const { timeoutMs = PACE.answerMs } = options;
    this.#wire = new KeeperWire({ channel, clock, random, timeoutMs });
    this.policies = new KeeperPolicies(this.#wire);
    this.tasks = new KeeperTasks(this.#wire);
  }

  /** Announces an agent, and keeps it alive until it is closed. */
  async register(options: RegisterOptions): Promise<KeeperAgent> {
    const { name, description = "", version = "", capabilities = [], tools = [] } = options;
    const { metadata = {}, ttlMs = TTL.agentDefaultMs, reregister = true, onState } = options;
    const { signal, timeoutMs } = options;
    const presence = await AgentPresence.begin(this.#wire, {
      card: { name, description, version, capabilities, tools, metadata },
      ttlMs: secondsOf(ttlMs) * 1000,
      reregister,
      signal,
      timeoutMs,
    });
    // By itself: what it throws is its own fault, and must not stop the heartbeats.
    if (onState) presence.onState((state) => queueMicrotask(() => onState(state)));
    return new KeeperAgent({ wire: this.#wire, tasks: this.tasks, presence });
  }

  /** Agents that are alive, the best first. */
  async find(options: FindOptions = {}): Promise<readonly AgentInfo[]> {
    const { query = "", tools = [], limit = 0, ...rest } = options;
    const request = { query, tools: [...tools], limit };
    const { agents } = await this.#wire.call(RegistryService.method.find, request, rest);
    return agents.map(agentFrom);
  }

  /** Any agent, dead ones included as long as they are remembered. */
  async getAgent(agentId: string, options: KeeperCallOptions = {}): Promise<AgentInfo> {
    const { agent } = await this.#wire.call(RegistryService.method.getAgent, { agentId }, options);
    return agentFrom(agent);
  }

  /** A lease in the name of any agent; one of this program acquires its own. */
  acquireLease(
    taskId: string,
    options: AcquireForOptions & { readonly wait: true },
  ): Promise<LeaseHandle>;
  acquireLease(taskId: string, options: AcquireForOptions): Promise<LeaseHandle | undefined>;
  acquireLease(
    taskId: string,
    { agentId, ...options }: AcquireForOptions,
  ): Promise<LeaseHandle | undefined> {
    return (options.wait ? acquireInTime : acquire)(this.#wire, { taskId, agentId }, options);
  }

  /** Whether a subject may do an action, and why. */
  check(access: AccessRequest, options: KeeperCallOptions = {}): Promise<PolicyVerdict> {
    return this.policies.check(access, options);
  }

  /** Everything that happens, in order, once each, across restarts of the daemon. */
  watch(options: KeeperWatchOptions = {}): KeeperWatch {
    const request = { topics: [...(options.topics ?? [])] };
    return new KeeperWatch(
      this.#wire,
      (opening) => this.#wire.open(RegistryService.method.watch, request, opening),
      options,
    );
  }

  /** Closes what was opened here and is still open, then the connection. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#wire.close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function tokenFor(
  address: string,
  { address: given, token }: KeeperConnectOptions,
): string | undefined {
  const fromEnvironment = given === undefined ? findToken(undefined, process.env) : undefined;
  return token ?? fromEnvironment ?? localToken(`http://${address}`);
}

export function connect(options: KeeperConnectOptions = {}): Keeper {
  return new Keeper(options);
}
