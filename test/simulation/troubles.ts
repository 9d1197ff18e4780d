/** What goes wrong with machines and the store, when and for how long. */
import type { Network } from "./network.ts";
import type { SimNode } from "./node.ts";
import type { Pace } from "./pace.ts";
import type { Profile, Trouble } from "./profile.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SimDisk } from "./sim-disk.ts";
import type { Transcript } from "./transcript.ts";

export interface TroublesOptions {
  readonly profile: Profile;
  readonly nodes: readonly SimNode[];
  readonly disk: SimDisk;
  readonly network: Network;
  readonly pace: Pace;
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly transcript: Transcript;
}

/** A wall that was set forward. */
export interface Jump {
  readonly atMs: number;
  readonly byMs: number;
}

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const DAY = 24 * HOUR;
/** Much longer than anybody's patience with a silent leader. */
const LULL_MS = 14 * SECOND;

export class Troubles {
  readonly #options: TroublesOptions;
  readonly jumps: Jump[] = [];
  #isOver = false;

  constructor(options: TroublesOptions) {
    this.#options = options;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  async begin(): Promise<void> {
    const { profile, nodes, random, scheduler } = this.#options;
    if (profile.troubles.length === 0) return;
    for (;;) {
      await scheduler.sleep(random.between(100, 2 * profile.everyMs));
      if (this.#isOver) return;
      // Whoever leads has most to lose.
      const leader = nodes.find(({ engine }) => engine?.mode === "leading");
      const node = leader && random.chance(0.4) ? leader : random.pick(nodes);
      this.#cause(random.pick(profile.troubles), node);
    }
  }

  /** No fault, but an operator's order: whoever leads lets another lead. */
  async stepDowns(random: Random): Promise<void> {
    const { profile, nodes, scheduler, transcript } = this.#options;
    if (profile.stepDownMs === 0) return;
    for (;;) {
      await scheduler.sleep(random.between(100, 2 * profile.stepDownMs));
      if (this.#isOver) return;
      const leader = nodes.find(({ engine }) => engine?.mode === "leading");
      if (!leader) continue;
      transcript.fault(leader.name, "step down");
      leader.ask((engine) => engine.stepDown()).catch(() => undefined);
    }
  }

  /** From now on nothing more goes wrong, and what is down comes up. */
  end(): void {
    const { nodes, disk, network, transcript } = this.#options;
    this.#isOver = true;
    network.cutOff.clear();
    disk.stalledUntilMs = 0;
    disk.brokenUntilMs = 0;
    disk.fullUntilMs = 0;
    disk.deafUntilMs.clear();
    transcript.say("world", "all troubles are over");
    for (const node of nodes) node.start();
  }

  #cause(trouble: Trouble, node: SimNode): void {
    const { random, transcript, network, disk, scheduler, pace } = this.#options;
    const forMs = random.pick([random.between(50, 900), random.between(SECOND, 12 * SECOND)]);
    const untilMs = scheduler.nowMs + forMs;
    const report = (who: string, detail = `for ${forMs} ms`) =>
      transcript.fault(who, trouble, detail);
    switch (trouble) {
      case "crash":
        if (!node.isUp) return;
        report(node.name);
        node.crash();
        return this.#later(forMs, () => node.start());
      case "close":
        if (!node.engine) return;
        report(node.name);
        node.close();
        return this.#later(forMs, () => node.start());
      case "pause":
        report(node.name);
        node.pause();
        return this.#later(forMs, () => node.resume());
      case "cut off":
        report(node.name);
        network.cutOff.add(node.name);
        return this.#later(forMs, () => network.cutOff.delete(node.name));
      case "deaf":
        report(node.name);
        disk.deafUntilMs.set(node.name, untilMs);
        return;
      case "lull": {
        if (pace.isLull()) return;
        report("world", `for ${LULL_MS} ms`);
        pace.lull(LULL_MS);
        // When most has run out, so that nothing is written: who is deaf thinks the leader is gone.
        return this.#later(LULL_MS / 3, () => {
          const deaf = this.#options.nodes.find(({ engine }) => engine?.mode === "following");
          if (deaf) disk.deafUntilMs.set(deaf.name, scheduler.nowMs + LULL_MS);
        });
      }
      case "wall forward": {
        // More than a day is not believed at once, and most is kept for less.
        const byMs = random.pick([random.between(500, 8 * SECOND), DAY, 31 * DAY]);
        report(node.name, `by ${byMs} ms`);
        this.jumps.push({ atMs: scheduler.nowMs, byMs });
        return node.clock.jump(byMs);
      }
      case "wall back": {
        const byMs = random.pick([random.between(500, 8 * SECOND), 2 * HOUR]);
        report(node.name, `by ${byMs} ms`);
        return node.clock.jump(-byMs);
      }
      case "log stall":
        report("log");
        disk.stalledUntilMs = untilMs;
        return;
      case "log broken":
        report("log");
        disk.brokenUntilMs = untilMs;
        return;
      case "disk full":
        report("log");
        disk.fullUntilMs = untilMs;
        return;
    }
  }

  #later(delayMs: number, call: () => void): void {
    this.#options.scheduler.after(delayMs, () => {
      if (!this.#isOver) call();
    });
  }
}
