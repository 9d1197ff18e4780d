/**
 * A daemon that shares its log with others: its door for them, its way to them, its membership, and
 * what it remembers of all that. Opened around the engine: the way to the others comes before it,
 * the door and the membership after it.
 */
import type { By } from "../../core/by.ts";
import type { Clock } from "../../core/clock.ts";
import { RollcallError } from "../../core/errors.ts";
import { FORMATS } from "../../core/formats.ts";
import type { ClusterMember } from "../../core/members.ts";
import { SECOND } from "../../core/units.ts";
import type { Engine } from "../../engine/engine.ts";
import type { EngineOptions } from "../../engine/options.ts";
import type { Authenticator } from "../../identity/caller.ts";
import { KeyPair } from "../../net/tls/pair.ts";
import { MemberClient } from "../../wires/members/client/forwarder.ts";
import type { MemberRelay, RelayTerms } from "../../wires/members/client/relay.ts";
import type { RelayHost } from "../../wires/members/server/relay.ts";
import { memberService, type Greeting } from "../../wires/members/server/service.ts";
import { formatAddress, isWildcard, type Address } from "../address.ts";
import type { Config } from "../config.ts";
import type { Logger } from "../logger.ts";
import { MemberDoor } from "./door.ts";
import { Membership } from "./membership.ts";
import { NodeFile } from "./node-file.ts";

/** How much of the log may be known twice after a crash. */
const KEEP_MS = 5 * SECOND;

export interface ClusterOptions {
  readonly config: Pick<Config, "node" | "dataDir" | "cluster">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly version: string;
}

/** The parts that exist once the engine is open. */
export interface ClusterParts {
  readonly engine: Engine;
  readonly relays: RelayHost;
  /** The users of this machine, where members have no certificates. */
  readonly authenticator: Authenticator;
}

const SETTINGS = { cert: "cluster_cert", key: "cluster_key", clientCa: "cluster_ca" };

export class Cluster {
  readonly #options: ClusterOptions;
  readonly #pair: KeyPair | undefined;
  readonly #file: NodeFile;
  readonly client: MemberClient;
  #engine: Engine | undefined;
  #door: MemberDoor | undefined;
  #membership: Membership | undefined;
  #address = "";
  #stopKeeping: () => void = () => undefined;
  #fail: (error: Error) => void = () => undefined;
  /** Resolves when another node has this one's name. */
  readonly failed = new Promise<Error>((resolve) => (this.#fail = resolve));

  /** Before the engine: how it reaches the others, and what it must find in the log. */
  static async start(options: ClusterOptions): Promise<Cluster> {
    const { config, clock, logger } = options;
    const file = NodeFile.open(config.node, config.dataDir);
    const { tls: files } = config.cluster;
    const pair =
      files &&
      (await KeyPair.open({
        files,
        settings: SETTINGS,
        clock,
        onRenewal: ({ validTo }) => logger.info({ validTo }, "members get the new certificate"),
        onTrouble: (error) => logger.error({ err: error }, "the old certificate stays in use"),
      }));
    return new Cluster(options, file, pair);
  }

  private constructor(options: ClusterOptions, file: NodeFile, pair: KeyPair | undefined) {
    this.#options = options;
    this.#file = file;
    this.#pair = pair;
    this.client = new MemberClient({
      addressOf: (node) => this.#member(node)?.address,
      timers: options.clock,
      ...(pair && { trust: () => pair.texts }),
    });
    pair?.follow(() => this.client.renew());
  }

  /** The engine's options as a member of a cluster. */
  get engineOptions(): Partial<EngineOptions> {
    const { cluster } = this.#options.config;
    const { instance, known } = this.#file;
    const { acceptLoss, mayLead, failover } = cluster;
    return { forwarder: this.client, instance, known, acceptLoss, mayLead, failover };
  }

  /** After the engine: lets the others in, and becomes a member as soon as somebody leads. */
  async open({ engine, relays, authenticator }: ClusterParts): Promise<void> {
    const { config, clock, logger, version } = this.#options;
    this.#engine = engine;
    await this.#refuseTwin();
    const handlers = memberService({
      target: engine,
      greeting: () => this.#greeting(engine),
      stepDown: () => engine.stepDown(),
      relays,
    });
    this.#door = new MemberDoor({
      handlers,
      pair: this.#pair,
      authenticator,
      onFault: (method, error) => logger.error({ err: error, method }, "a member's call failed"),
    });
    const bound = await this.#door.listen(config.cluster.addr);
    this.#address = formatAddress(this.#seenAs(bound));
    const { node, instance } = this.#file;
    const { lostAfterMs } = config.cluster;
    const address = this.#address;
    this.#membership = new Membership({
      engine,
      introduction: { node, instance, address, version, formats: FORMATS, lostAfterMs },
      clock,
      onRefused: (error) => this.#fail(error),
      onTrouble: (what, error) => logger.warn({ err: error }, what),
    });
    this.#keepLater();
  }

  /** A node that answers under this one's name is another process: this one does not listen yet. */
  async #refuseTwin(): Promise<void> {
    const { node } = this.#file;
    const address = this.#member(node)?.address;
    const answered = address === undefined ? undefined : await this.#greeted(address);
    if (answered?.node !== node) return;
    const which =
      answered.instance === this.#file.instance
        ? "of this data_dir"
        : `of instance ${answered.instance}`;
    const message =
      `node ${node} runs already, at ${address}, ${which}: ` +
      "give this one another name with --node and its own --data-dir, or stop that one";
    throw new RollcallError("ALREADY_EXISTS", message);
  }

  #greeted(address: string): Promise<Greeting | undefined> {
    return this.client.greet(address).catch(() => undefined);
  }

  #seenAs(bound: Address): Address {
    const { config } = this.#options;
    const { advertise } = config.cluster;
    if (advertise) return advertise.port === 0 ? { ...advertise, port: bound.port } : advertise;
    // Every interface is no address to call; the node's name is mostly that of its host.
    return isWildcard(bound.host) ? { ...bound, host: config.node } : bound;
  }

  #greeting(engine: Engine): Greeting {
    const { node, instance } = this.#file;
    const { mode, head } = engine;
    const { logId } = engine.known;
    return { node, instance, logId, mode, head, version: this.#options.version };
  }

  #keepLater(): void {
    this.#stopKeeping = this.#options.clock.after(KEEP_MS, () => {
      this.#keep();
      this.#keepLater();
    });
  }

  #keep(): void {
    try {
      if (this.#engine) this.#file.keep(this.#engine.known);
    } catch (error) {
      this.#options.logger.warn({ err: error }, "what is known of the log was not kept");
    }
  }

  #member(node: string): ClusterMember | undefined {
    return this.#engine?.peek(({ members }) => members.byNode.get(node)?.member);
  }

  /** HOST:PORT, as the other members see it. */
  get address(): string {
    return this.#address;
  }

  get instance(): string {
    return this.#file.instance;
  }

  get isMember(): boolean {
    return this.#membership?.isMember ?? false;
  }

  /** The member that leads; undefined while none does. */
  get leader(): string | undefined {
    const engine = this.#engine;
    if (!engine) return undefined;
    if (engine.mode === "leading") return engine.node;
    const node = engine.peek(({ leadership }) => leadership.node);
    return engine.mode === "following" && node !== engine.node && node !== "" ? node : undefined;
  }

  /** Hands an ARCP connection on to the node that leads. */
  async relay(terms: RelayTerms): Promise<MemberRelay> {
    const { leader } = this;
    if (leader === undefined) throw new RollcallError("UNAVAILABLE", "no node leads now");
    return this.client.relay(leader, terms);
  }

  /** Has the node that leads give it up; with a name only if that one leads. */
  async stepDown(node: string | undefined, by: By): Promise<string> {
    const { leader } = this;
    if (leader === undefined) throw new RollcallError("UNAVAILABLE", "no node leads now");
    if (node !== undefined && node !== leader) {
      throw new RollcallError("WRONG_STATE", `${node} does not lead: ${leader} does`);
    }
    if (leader === this.#engine?.node) await this.#engine.stepDown();
    else await this.client.stepDown(leader, by);
    return leader;
  }

  /** How each member answers this one now. */
  async greetings(): Promise<ReadonlyMap<string, Greeting | undefined>> {
    const engine = this.#engine;
    const members = engine?.peek((state) => [...state.members.byNode.values()]) ?? [];
    const answers = members.map(async ({ member: { node, address } }) => {
      const isItself = node === engine?.node;
      return [node, isItself ? this.#greeting(engine) : await this.#greeted(address)] as const;
    });
    return new Map(await Promise.all(answers));
  }

  /** Leaves, while the engine can still say so. Idempotent. */
  async leave(): Promise<void> {
    await this.#membership?.close();
  }

  /** After the engine. Idempotent. */
  async close(): Promise<void> {
    this.#stopKeeping();
    this.#keep();
    await this.#door?.close();
    this.client.close();
    this.#pair?.close();
  }
}
