/**
 * A client runs a few agents: it registers them, sends their heartbeats, and in between asks for
 * leases, campaigns, works on tasks and reads, on whichever node it happens to talk to.
 */
import { codeOf } from "../../src/core/errors.ts";
import type { Agent } from "../../src/core/agents.ts";
import type { Command, Reply } from "../../src/core/rules.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { Beliefs, type Names } from "./beliefs.ts";
import type { Ask, History } from "./history.ts";
import { Callers } from "./callers.ts";
import { nextMove, type Move } from "./moves.ts";
import type { Network } from "./network.ts";
import type { SimNode } from "./node.ts";
import type { Pace } from "./pace.ts";
import type { Profile } from "./profile.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SimJobs } from "./sim-jobs.ts";

export interface ClientOptions {
  readonly name: string;
  readonly pace: Pace;
  readonly profile: Profile;
  readonly nodes: readonly SimNode[];
  readonly known: Names;
  readonly history: History;
  readonly network: Network;
  readonly scheduler: Scheduler;
  readonly random: Random;
}

/** Agents of one client at a time. */
const AGENTS = 2;

export class Client {
  readonly #options: ClientOptions;
  readonly #beliefs = new Beliefs();
  readonly #callers: Callers;
  #isStopped = false;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#callers = new Callers({
      random: options.random.fork("callers"),
      keyOf: (agentId) => this.#beliefs.keys.get(agentId),
    });
  }

  async begin(): Promise<void> {
    const { random, known, pace, profile } = this.#options;
    while (!this.#isStopped) {
      await pace.rest(random);
      const position = { random, beliefs: this.#beliefs, known };
      const move = nextMove(position, profile.readShare);
      const ask = move && this.#signed(move);
      if (ask && !this.#isTooMany(ask)) await this.#ask(ask);
    }
  }

  /** In the name of a caller. */
  #signed(move: Move): Ask {
    if (!("type" in move)) return move;
    return { kind: "command", command: move, by: this.#callers.callerOf(move) };
  }

  stop(): void {
    this.#isStopped = true;
  }

  #isTooMany(ask: Ask): boolean {
    if (ask.kind !== "command" || ask.command.type !== "agent.register") return false;
    return this.#beliefs.agents.size >= AGENTS;
  }

  /** The reply; undefined when there was none. */
  async #ask(ask: Ask): Promise<unknown> {
    const { name, network, random, history, nodes, known } = this.#options;
    const node = random.pick(nodes);
    const op = history.called(name, ask, node.name);
    try {
      const reply = await network.call({
        from: name,
        to: node.name,
        timeoutMs: random.pick([1000, 4000, 9000]),
        ask: () => node.ask((engine, jobs) => put(engine, jobs, ask)),
        onDuplicate: () => void history.called(`${name}'`, ask, node.name),
      });
      history.answered(op, reply);
      if (ask.kind === "command") this.#learn(ask.command, reply as Reply, known);
      return reply;
    } catch (error) {
      history.failed(op, error);
      if (ask.kind === "command") this.#despair(ask.command, codeOf(error));
      return undefined;
    }
  }

  #learn(command: Command, reply: Reply, known: Names): void {
    const { agents } = this.#beliefs;
    const before = new Set(agents.keys());
    this.#beliefs.learn(command, reply, known);
    if (command.type === "agent.deregister") agents.delete(command.agentId);
    for (const [agentId, agent] of agents) {
      if (!before.has(agentId)) void this.#keepAlive(agent);
    }
  }

  /** An agent that is not known any more is given up. */
  #despair(command: Command, code: string): void {
    if (command.type === "agent.heartbeat" && code === "NOT_FOUND") {
      this.#beliefs.agents.delete(command.agentId);
    }
  }

  /** Heartbeats until the agent is gone; some agents fall silent for a while. */
  async #keepAlive({ agentId, ttlMs }: Agent): Promise<void> {
    const { random, scheduler } = this.#options;
    while (this.#beliefs.agents.has(agentId) && !this.#isStopped) {
      const isSilent = random.chance(0.04);
      await scheduler.sleep(isSilent ? 2.5 * ttlMs : (ttlMs / 4) * (0.5 + random.fraction()));
      // Not waited for: a late answer does not hold up the next one.
      void this.#ask(this.#signed({ type: "agent.heartbeat", agentId }));
    }
  }
}

function put(engine: Engine, jobs: SimJobs, ask: Ask): Promise<unknown> {
  if (ask.kind === "read") return look(engine, ask);
  const { command, by } = ask;
  if (command.type === "agent.heartbeat") return engine.heartbeat(command.agentId, by);
  return jobs.execute(command, () => engine.execute(command, by));
}

function look(engine: Engine, ask: Ask & { readonly kind: "read" }): Promise<string> {
  if (ask.noun !== "policy") return engine.read(ask.select);
  return engine.readPart("policies", (policies) => ask.select({ policies }));
}
