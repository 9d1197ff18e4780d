/**
 * Somebody who watches the log: connects to any node, goes on from the last place it knows, is slow
 * at times, goes away and comes back elsewhere. Every item is checked against the durable log the
 * moment it arrives:
 *
 * - an event is durable, is the very next one that was asked for, and comes once;
 * - a bookmark skips nothing that was asked for;
 * - a resync comes only where the log was truncated beyond what the watcher had seen.
 */
import { codeOf } from "../../src/core/errors.ts";
import type { Watch, WatchItem } from "../../src/engine/watch.ts";
import type { SimNode } from "./node.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SimDisk } from "./sim-disk.ts";
import type { Transcript } from "./transcript.ts";

export interface WatcherOptions {
  readonly name: string;
  readonly nodes: readonly SimNode[];
  readonly disk: SimDisk;
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly transcript: Transcript;
  readonly fail: (invariant: string, detail: string) => void;
}

const PREFIXES = ["agent.", "lease.", "election.", "leader.", "policy.", "task.", "job.", "node."];

/** For a watcher that hurries to come back and see what is new. */
const PATIENCE_MS = 2000;

export class Watcher {
  readonly #options: WatcherOptions;
  readonly #prefixes: readonly string[];
  /** The last sequence it knows of; undefined before it first connected. */
  #position: number | undefined;
  #isHurried = false;

  constructor(options: WatcherOptions) {
    this.#options = options;
    const { random } = options;
    this.#prefixes = random.chance(0.5) ? [] : PREFIXES.filter(() => random.chance(0.3));
    if (random.chance(0.5)) this.#position = 0;
  }

  async begin(): Promise<void> {
    const { random, scheduler, nodes } = this.#options;
    for (;;) {
      const { engine, name } = random.pick(nodes);
      if (engine && engine.mode !== "closed") {
        this.#say(`connects to ${name} from ${this.#position ?? "now"}`);
        const from = this.#position;
        const prefixes = this.#prefixes;
        const watch = engine.watch(from === undefined ? { prefixes } : { prefixes, from });
        this.#position ??= engine.head;
        await this.#consume(watch);
        watch.close();
      }
      const isAway = random.chance(0.2) && !this.#isHurried;
      await scheduler.sleep(isAway ? random.between(2000, 9000) : random.between(1, 400));
    }
  }

  /** From now on it keeps up. */
  hurry(): void {
    this.#isHurried = true;
  }

  /** What it was to see by now and has not. */
  missing(): string[] {
    const { disk } = this.#options;
    return this.#wantedIn(this.#position ?? disk.head, disk.headBefore(PATIENCE_MS));
  }

  get name(): string {
    return this.#options.name;
  }

  async #consume(watch: Watch): Promise<void> {
    const { random, scheduler } = this.#options;
    const items = random.between(1, 40);
    const isSlow = random.chance(0.2);
    try {
      for (let taken = 0; taken < items || this.#isHurried; taken += 1) {
        const page = await this.#soon(watch.pull());
        if (!page || page.length === 0) return;
        for (const item of page) this.#take(item);
        if (isSlow && !this.#isHurried) await scheduler.sleep(random.between(100, 3000));
      }
    } catch (error) {
      this.#options.transcript.count("outcome", `watch ${codeOf(error)}`);
      this.#say(`is told ${codeOf(error)}`);
      if (!["UNAVAILABLE", "SLOW_CONSUMER"].includes(codeOf(error))) {
        this.#options.fail("a watch ends with a reason one can act on", String(error));
      }
    }
  }

  /** A node that crashed says nothing more; whoever waits gives up some time. */
  #soon<T>(pull: Promise<T>): Promise<T | undefined> {
    const { random, scheduler } = this.#options;
    return new Promise((resolve, reject) => {
      const cancel = scheduler.after(random.between(300, 4000), () => resolve(undefined));
      pull.then(resolve, reject).finally(cancel);
    });
  }

  #take(item: WatchItem): void {
    const { disk, transcript } = this.#options;
    const position = this.#position ?? 0;
    const sequence = item.kind === "event" ? item.recorded.sequence : item.sequence;
    transcript.count("seen", `watch ${item.kind}`);
    this.#say(`sees ${item.kind} ${sequence}`);
    this.#position = sequence;
    if (sequence > disk.head) return this.#fail(`${item.kind} ${sequence} is not durable`);
    switch (item.kind) {
      case "event": {
        if (sequence <= position) return this.#fail(`${sequence} after ${position}`);
        if (disk.archive[sequence - 1]?.text !== item.recorded.text) {
          return this.#fail(`${sequence} is not what the log has`);
        }
        return this.#skips(position, sequence - 1);
      }
      case "bookmark":
        if (sequence < position) return this.#fail(`bookmark ${sequence} after ${position}`);
        return this.#skips(position, sequence);
      case "resync":
        if (position < disk.truncated) return;
        return this.#fail(`resync at ${sequence}, though the log reaches back to ${disk.oldest}`);
    }
  }

  #skips(after: number, through: number): void {
    const skipped = this.#wantedIn(after, through);
    if (skipped.length > 0) this.#fail(`skipped ${skipped.join(", ")}`);
  }

  #wantedIn(after: number, through: number): string[] {
    return this.#options.disk.archive
      .slice(after, through)
      .map(({ sequence, text }) => ({ sequence, topic: /"type":"([^"]+)"/.exec(text)?.[1] ?? "" }))
      .filter(({ topic }) => this.#isWanted(topic))
      .map(({ sequence, topic }) => `${sequence} ${topic}`);
  }

  #isWanted(topic: string): boolean {
    return this.#prefixes.length === 0 || this.#prefixes.some((each) => topic.startsWith(each));
  }

  #fail(detail: string): void {
    this.#options.fail("a watcher sees exactly the log it asked for", `${this.name}: ${detail}`);
  }

  #say(what: string): void {
    this.#options.transcript.say(this.name, what);
  }
}
