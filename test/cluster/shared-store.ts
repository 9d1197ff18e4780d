/**
 * The stores that members share, as servers that can be hurt. Wired, each member reaches each
 * server through a cable of its own, which can be cut.
 */
import { Cable } from "../support/cable.ts";

export const STORE_FAULTS = [
  "kill store",
  "stop store",
  "end store",
  "cut store",
  "promote",
  "cut standby",
  "lose disk",
  "fill disk",
] as const;

export type StoreFault = (typeof STORE_FAULTS)[number];

export type Mend = () => Promise<void>;

export interface StoreOptions {
  /** Through cables; and Postgres with a standby. */
  readonly isWired?: boolean;
  /** On a disk that can be filled up. */
  readonly isSmall?: boolean;
  /** Set up so that it may lose what it acknowledged: the check has to see it. */
  readonly isLossy?: boolean;
}

export interface SharedStore {
  /** By which a member is told of it, past the cables. */
  readonly flags: readonly string[];
  /** The same through the cables of a member. */
  flagsOf(node: string): Promise<readonly string[]>;
  /** From now on nothing passes between the member and the store, and nobody is told. */
  cutOff(node: string): Mend;
  /** What can be done to it: each resolves with how to mend it. */
  readonly faults: Readonly<Partial<Record<StoreFault, () => Promise<Mend>>>>;
  stop(): Promise<void>;
}

/** Of each member to each server. */
export class StoreCables {
  readonly #ports: number[];
  readonly #byNode = new Map<string, readonly Cable[]>();

  /** Of the servers. */
  constructor(ports: readonly number[]) {
    this.#ports = [...ports];
  }

  /** HOST:PORT of each server, as the member reaches it. */
  async hostsOf(node: string): Promise<readonly string[]> {
    const cables = await Promise.all(this.#ports.map(() => Cable.open()));
    this.#byNode.set(node, cables);
    this.#lead();
    return cables.map(({ host }) => host);
  }

  /** Another server takes the place of one. */
  replace(before: number, after: number): void {
    this.#ports[this.#ports.indexOf(before)] = after;
    this.#lead();
  }

  #lead(): void {
    for (const cables of this.#byNode.values()) {
      for (const [index, cable] of cables.entries()) cable.port = this.#ports[index] ?? 0;
    }
  }

  cutOff(node: string): Mend {
    const cables = this.#byNode.get(node) ?? [];
    for (const cable of cables) cable.swallow();
    return async () => {
      for (const cable of cables) cable.mend();
    };
  }

  close(): void {
    for (const cable of [...this.#byNode.values()].flat()) cable.close();
  }
}
