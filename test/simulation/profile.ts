/**
 * What kind of world a seed is: how many nodes, how busy, and which faults it knows. Every seed has
 * only some of them, because those that always come together hide each other.
 */
import type { Failover } from "../../src/core/limits.ts";
import type { Retention } from "../../src/engine/snapshots.ts";
import type { NetworkFaults } from "./network.ts";
import type { Random } from "./random.ts";
import type { LogFaults } from "./sim-link.ts";

export const TROUBLES = [
  "crash",
  "close",
  "pause",
  "cut off",
  "deaf",
  "lull",
  "wall forward",
  "wall back",
  "log stall",
  "log broken",
  "disk full",
] as const;

export type Trouble = (typeof TROUBLES)[number];

export interface Profile {
  readonly nodes: number;
  /** One log for all nodes; else the only node's own. */
  readonly shared: boolean;
  readonly clients: number;
  readonly watchers: number;
  readonly thinkMs: number;
  /** Clients do much at once, and then nothing for a while. */
  readonly isBursty: boolean;
  /** For how long things go wrong. */
  readonly troubledMs: number;
  readonly everyMs: number;
  readonly troubles: readonly Trouble[];
  readonly log: LogFaults;
  readonly network: NetworkFaults;
  readonly retention: Partial<Retention>;
  /** Of the stream of one job. */
  readonly keptEvents: number;
  readonly failover: Failover;
  /** How much clients read beyond what their other moves ask for. */
  readonly readShare: number;
  /** Between two orders to the leader to let another lead; 0: there are none. */
  readonly stepDownMs: number;
}

export const CALM_LOG: LogFaults = {
  latencyMs: 4,
  slowestMs: 20,
  refuse: 0,
  loseAnswer: 0,
  arriveLate: 0,
  giveUp: 0,
  failRead: 0,
  failFollow: 0,
  cutSnapshot: 0,
};

export const CALM_NETWORK: NetworkFaults = {
  latencyMs: 5,
  slowestMs: 20,
  drop: 0,
  duplicate: 0,
};

export function profileOf(random: Random): Profile {
  const shared = random.chance(0.8);
  const sometimes = (rate: number) => (random.chance(0.4) ? rate * random.fraction() : 0);
  return {
    nodes: shared ? random.between(1, 5) : 1,
    shared,
    clients: random.between(2, 5),
    watchers: random.between(1, 3),
    thinkMs: random.pick([80, 200, 500, 1500]),
    isBursty: random.chance(0.35),
    troubledMs: random.between(10_000, 30_000),
    everyMs: random.pick([1500, 3000, 6000]),
    troubles: TROUBLES.filter(() => random.chance(0.35)),
    log: {
      latencyMs: random.pick([0.5, 5, 40]),
      slowestMs: random.pick([10, 200, 1500]),
      refuse: sometimes(0.03),
      loseAnswer: sometimes(0.03),
      arriveLate: sometimes(0.03),
      giveUp: random.pick([0, 0.5, 1]),
      failRead: sometimes(0.08),
      failFollow: sometimes(0.03),
      cutSnapshot: sometimes(0.25),
    },
    network: {
      latencyMs: random.pick([1, 10, 60]),
      slowestMs: random.pick([20, 500, 7000]),
      drop: sometimes(0.06),
      duplicate: sometimes(0.06),
    },
    retention: {
      snapshotEveryEvents: random.pick([8, 20, 60]),
      maxEvents: random.pick([5, 25, 80]),
    },
    // Rare, because to trim takes turns on the disk: lives before it are as they were.
    keptEvents: random.chance(0.85) ? Infinity : 3,
    failover: random.pick(["fast", "calm"]),
    readShare: 0,
    // Rare, and drawn last: lives before it are as they were.
    stepDownMs: random.chance(0.85) ? 0 : random.pick([800, 3000]),
  };
}
