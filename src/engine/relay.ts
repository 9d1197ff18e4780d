/**
 * How a node that follows asks the one that leads: commands one by one, barriers for many reads at
 * once. A read may use any barrier that was asked for after the read began, so all reads that come
 * while one is under way share the next one.
 *
 *   reads ──▶ under way: was asked for before they came, no use to them
 *        └──▶ next: asked for when that one is answered
 */
import type { By } from "../core/by.ts";
import { RollcallError } from "../core/errors.ts";
import type { Command, ReplyTo } from "../core/rules.ts";
import type { Forwarder } from "./forward.ts";

export interface RelayOptions {
  readonly forwarder: Forwarder | undefined;
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

  execute<C extends Command>(command: C, by: By): Promise<ReplyTo<C>> {
    const leader = this.#options.leader();
    return this.#forwarder.execute(leader, command, by);
  }

  /** The leader's head, once it has proved that it leads. */
  async barrier(): Promise<number> {
    const leader = this.#options.leader();
    const underWay = this.#barrier;
    // Nobody waits for the answer of one that no longer leads.
    if (underWay?.leader !== leader) return this.#ask(leader);
    underWay.next ??= underWay.head.then(
      () => this.barrier(),
      () => this.barrier(),
    );
    return underWay.next;
  }

  #ask(leader: string): Promise<number> {
    const head = this.#forwarder.barrier(leader);
    const barrier: Barrier = { leader, head, next: undefined };
    this.#barrier = barrier;
    const forget = () => {
      if (this.#barrier === barrier) this.#barrier = undefined;
    };
    head.then(forget, forget);
    return head;
  }

  get #forwarder(): Forwarder {
    const { forwarder } = this.#options;
    if (forwarder) return forwarder;
    throw new RollcallError("UNAVAILABLE", "this node has no way to the one that leads");
  }
}
