/**
 * How a node that follows asks the one that leads: commands one by one, barriers for many reads at
 * once. A read may use any barrier that was asked for after the read began, so all reads that come
 * while one is under way share the next one.
 *
 *   reads ──▶ under way: was asked for before they came, no use to them
 *        └──▶ next: asked for when that one is answered
 */
import type { By } from "../core/by.ts";
import type { Command } from "../core/rules.ts";
import type { Forwarded, Forwarder } from "./forward.ts";

export interface RelayOptions {
  readonly forwarder: Forwarder;
  /** The other node that leads; throws when this node knows of none. */
  readonly leader: () => string;
}

interface Barrier {
  readonly leader: string;
  readonly head: Promise<number>;
  /** For all that come before it is answered. */
  next: Promise<number> | undefined;
}

export class Relay {
  readonly #options: RelayOptions;
  #barrier: Barrier | undefined;

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  async execute<C extends Command>(
    command: C,
    by: By,
    signal?: AbortSignal,
  ): Promise<Forwarded<C>> {
    return this.#options.forwarder.execute(this.#options.leader(), command, by, signal);
  }

  /** The leader's head, once it has proved that it leads. */
  async barrier(): Promise<number> {
    const leader = this.#options.leader();
    const underWay = this.#barrier;
    // An answer of a node that no longer leads is of no use.
    if (underWay?.leader !== leader) return this.#ask(leader);
    underWay.next ??= underWay.head.then(
      () => this.barrier(),
      () => this.barrier(),
    );
    return underWay.next;
  }

  #ask(leader: string): Promise<number> {
    const head = this.#options.forwarder.barrier(leader);
    const barrier: Barrier = { leader, head, next: undefined };
    this.#barrier = barrier;
    const forget = () => {
      if (this.#barrier === barrier) this.#barrier = undefined;
    };
    head.then(forget, forget);
    return head;
  }
}
