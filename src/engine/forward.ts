/**
 * How a node that follows asks the one that leads. The transport is whatever the cluster has; in
 * one process it is a map.
 */
import type { By } from "../core/by.ts";
import type { Command, ReplyTo } from "../core/rules.ts";
import { RollcallError } from "../core/errors.ts";

/** A reply of the leader, and the head that a node must have seen to see what it is about. */
export interface Forwarded<C extends Command> {
  readonly reply: ReplyTo<C>;
  readonly head: number;
}

/** Heartbeats that a member took for the leader; a sign of its own life even when it took none. */
export interface BeatBatch {
  readonly node: string;
  readonly instance: string;
  /** Agents that are bound to their keys. */
  readonly agentIds: readonly string[];
  /**
   * Agents that were bound to no key when the member checked their callers. A member may be behind:
   * where one is bound by now, the leader checks the caller itself.
   */
  readonly unboundAgentIds: readonly string[];
}

export interface Forwarder {
  /** Has the leader decide a command of a caller; rejects with its refusal. */
  execute<C extends Command>(
    leader: string,
    command: C,
    by: By,
    signal?: AbortSignal,
  ): Promise<Forwarded<C>>;
  /** The leader's head, once it has proved that it leads: what a read must have seen. */
  barrier(leader: string, signal?: AbortSignal): Promise<number>;
  /**
   * Resolves when the leader has taken them, and has proved that it leads; with those that it
   * refused, because they are dead, unknown, or bound to a key by now.
   */
  beat(leader: string, batch: BeatBatch): Promise<readonly string[]>;
}

/** The other side of a forwarder: it executes, and never forwards again. */
export interface ForwardTarget {
  executeHere<C extends Command>(command: C, by: By): Promise<Forwarded<C>>;
  barrierHere(): Promise<number>;
  beatHere(batch: BeatBatch): Promise<readonly string[]>;
}

/** Nodes of one process, by name. */
export class InProcessForwarder implements Forwarder {
  readonly nodes = new Map<string, ForwardTarget>();

  async execute<C extends Command>(leader: string, command: C, by: By): Promise<Forwarded<C>> {
    return this.#node(leader).executeHere(command, by);
  }

  async barrier(leader: string): Promise<number> {
    return this.#node(leader).barrierHere();
  }

  async beat(leader: string, batch: BeatBatch): Promise<readonly string[]> {
    return this.#node(leader).beatHere(batch);
  }

  #node(name: string): ForwardTarget {
    const node = this.nodes.get(name);
    if (!node) throw new RollcallError("UNAVAILABLE", `node ${name} cannot be reached`);
    return node;
  }
}
