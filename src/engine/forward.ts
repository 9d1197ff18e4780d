/**
 * How a node that follows asks the one that leads. The transport is whatever the cluster has; in
 * one process it is a map.
 */
import type { By } from "../core/by.ts";
import type { Command, ReplyTo } from "../core/rules.ts";
import { RollcallError } from "../core/errors.ts";

export interface Forwarder {
  /** Has the leader decide a command of a caller; rejects with its refusal. */
  execute<C extends Command>(leader: string, command: C, by: By): Promise<ReplyTo<C>>;
  /** The leader's head, once it has proved that it leads: what a read must have seen. */
  barrier(leader: string): Promise<number>;
}

/** The other side of a forwarder: it executes, and never forwards again. */
export interface ForwardTarget {
  executeHere<C extends Command>(command: C, by: By): Promise<ReplyTo<C>>;
  barrierHere(): Promise<number>;
}

/** Nodes of one process, by name. */
export class InProcessForwarder implements Forwarder {
  readonly nodes = new Map<string, ForwardTarget>();

  async execute<C extends Command>(leader: string, command: C, by: By): Promise<ReplyTo<C>> {
    return this.#node(leader).executeHere(command, by);
  }

  async barrier(leader: string): Promise<number> {
    return this.#node(leader).barrierHere();
  }

  #node(name: string): ForwardTarget {
    const node = this.nodes.get(name);
    if (!node) throw new RollcallError("UNAVAILABLE", `node ${name} cannot be reached`);
    return node;
  }
}
