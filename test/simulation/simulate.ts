/**
 * One seed is one life of a whole cluster: troubled at first, then calm, then asked whether all is
 * well. Everything is drawn from the seed, so the same seed is the same life, to the letter.
 *
 *   start ──▶ troubles, clients, watchers ──▶ calm, clients go on ──▶ all quiet ──▶ checks
 */
import { fingerprint } from "../../src/core/snapshot.ts";
import { names } from "./beliefs.ts";
import { checkRun, type Sample } from "./checks.ts";
import { Client } from "./client.ts";
import { Cluster } from "./cluster.ts";
import { History } from "./history.ts";
import { Network } from "./network.ts";
import type { SimNode } from "./node.ts";
import { Pace } from "./pace.ts";
import type { Plant } from "./plants.ts";
import { CALM_LOG, CALM_NETWORK, profileOf, type Profile } from "./profile.ts";
import { Random } from "./random.ts";
import { Scheduler } from "./scheduler.ts";
import { SimDisk } from "./sim-disk.ts";
import { Transcript } from "./transcript.ts";
import { Troubles } from "./troubles.ts";
import { Watcher } from "./watcher.ts";
import { OPERATOR } from "./callers.ts";

export interface Failure {
  readonly invariant: string;
  readonly detail: string;
}

export interface Life {
  readonly seed: number;
  /** What was wrong, the first first. */
  readonly failures: readonly Failure[];
  readonly transcript: () => readonly string[];
  readonly counts: ReadonlyMap<string, number>;
  readonly virtualMs: number;
  readonly steps: number;
}

/** For the cluster to find a leader and to settle, and for clients to go on meanwhile. */
const CALM_MS = 9000;
/** For what is under way to come to an end. */
const QUIET_MS = 12_000;
/** For a command to be answered when nothing is wrong. */
const PROBE_MS = 4000;
/** For what was written to reach everybody. */
const SETTLE_MS = 2000;

export async function simulate(seed: number, plant?: Plant): Promise<Life> {
  // Refusals are made by the thousand, and nobody looks at where they come from.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    const world = new World(seed, plant);
    await world.live();
    return world.life();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

class World {
  readonly #seed: number;
  readonly #random: Random;
  readonly #scheduler = new Scheduler();
  readonly #transcript = new Transcript(this.#scheduler);
  readonly #disk: SimDisk;
  readonly #history: History;
  readonly #profile: Profile;
  readonly #cluster: Cluster;
  readonly #troubles: Troubles;
  readonly #clients: readonly Client[];
  readonly #watchers: readonly Watcher[];
  readonly #samples: Sample[] = [];
  readonly #failures: Failure[] = [];

  constructor(seed: number, plant: Plant | undefined) {
    this.#seed = seed;
    this.#random = new Random(seed);
    const drawn = profileOf(this.#random.fork("profile"));
    const profile = plant?.world?.(drawn) ?? drawn;
    this.#profile = profile;
    const scheduler = this.#scheduler;
    const transcript = this.#transcript;
    const disk = new SimDisk(scheduler, transcript, profile.shared);
    const history = new History(scheduler, disk, transcript);
    this.#disk = disk;
    this.#history = history;
    const shared = { profile, scheduler, transcript, disk, history };
    const draw = (name: string) => this.#random.fork(name);
    const isCalm = () => this.#troubles.isOver;
    const network = new Network({
      ...shared,
      random: draw("network"),
      faults: () => (isCalm() ? CALM_NETWORK : profile.network),
    });
    this.#cluster = new Cluster({
      ...shared,
      plant,
      network,
      random: draw("cluster"),
      faults: () => (isCalm() ? CALM_LOG : profile.log),
    });
    const { nodes } = this.#cluster;
    const pace = new Pace({ ...profile, scheduler, disk });
    this.#troubles = new Troubles({ ...shared, network, nodes, pace, random: draw("troubles") });
    const leader = () => nodes.find(({ engine }) => engine?.mode === "leading")?.name ?? "n1";
    const known = names(
      nodes.map(({ name }) => name),
      leader,
    );
    this.#clients = Array.from({ length: profile.clients }, (_, i) => {
      const name = `c${i + 1}`;
      return new Client({ ...shared, name, network, nodes, known, pace, random: draw(name) });
    });
    const fail = (invariant: string, detail: string) => this.#fail(invariant, detail);
    this.#watchers = Array.from({ length: profile.watchers }, (_, i) => {
      const name = `w${i + 1}`;
      return new Watcher({ ...shared, name, nodes, random: draw(name), fail });
    });
  }

  life(): Life {
    return {
      seed: this.#seed,
      failures: this.#failures,
      transcript: () => this.#transcript.lines(),
      counts: this.#transcript.counts,
      virtualMs: this.#scheduler.nowMs,
      steps: this.#scheduler.steps,
    };
  }

  /** Lives, then looks back. */
  async live(): Promise<void> {
    const fail = (invariant: string, detail: string) => this.#fail(invariant, detail);
    try {
      await this.#unfold();
    } catch (error) {
      fail("no program breaks", error instanceof Error ? (error.stack ?? error.message) : "?");
    }
    const { ops } = this.#history;
    const { archive, streamArchive: streams, terms } = this.#disk;
    const samples = this.#samples;
    const { jumps } = this.#troubles;
    checkRun({ archive, streams, terms, ops, samples, jumps, transcript: this.#transcript, fail });
  }

  async #unfold(): Promise<void> {
    const { nodes } = this.#cluster;
    this.#transcript.say("world", JSON.stringify(this.#profile));
    for (const node of nodes) node.start();
    void this.#troubles.begin();
    for (const one of [...this.#clients, ...this.#watchers]) void one.begin();
    void this.#sample(this.#random.fork("samples"));
    void this.#troubles.stepDowns(this.#random.fork("step downs"));
    await this.#pass(this.#profile.troubledMs);
    this.#troubles.end();
    await this.#pass(CALM_MS);
    for (const client of this.#clients) client.stop();
    for (const watcher of this.#watchers) watcher.hurry();
    await this.#pass(QUIET_MS);
    if (this.#failures.length === 0) await this.#probe();
  }

  async #pass(ms: number): Promise<void> {
    const isOver = () => this.#failures.length > 0;
    await this.#scheduler.run(this.#scheduler.nowMs + ms, isOver);
  }

  /** Nothing has been wrong for a while: every node answers, and all know the same. */
  async #probe(): Promise<void> {
    const { nodes } = this.#cluster;
    const answers = nodes.map((node) => this.#probeOf(node));
    await this.#pass(PROBE_MS);
    nodes.forEach((node, i) => {
      const problem = answers[i]?.problem;
      if (problem) this.#fail("when all is calm every node answers", `${node.name}: ${problem}`);
    });
    for (const node of nodes) {
      this.#sampleOf(node);
      const head = node.engine?.head ?? 0;
      if (head >= this.#disk.headBefore(SETTLE_MS)) continue;
      this.#fail("when all is calm all nodes know the same", `${node.name} stands at ${head}`);
    }
    for (const watcher of this.#watchers) {
      const missing = watcher.missing();
      if (missing.length === 0) continue;
      this.#fail("when all is calm watchers are up to date", `${watcher.name} lacks ${missing[0]}`);
    }
  }

  /** Writes and reads there. */
  #probeOf(node: SimNode): { problem: string } {
    const probe = { problem: "no answer" };
    const resource = `probe:${node.name}`;
    const policy = { id: node.name, subject: "*", action: "*", resource, effect: "deny" } as const;
    const command = { type: "policy.set", policy } as const;
    const op = this.#history.called("probe", { kind: "command", command, by: OPERATOR }, node.name);
    const answer = node.ask(async (engine) => {
      this.#history.answered(op, await engine.execute(command, OPERATOR));
      const ask = { kind: "read", noun: "fingerprint", key: "", select: fingerprint } as const;
      const read = this.#history.called("probe", ask, node.name);
      this.#history.answered(read, await engine.read(fingerprint));
      return engine.read((state) => state.policies.byId.get(node.name)?.resource);
    });
    answer.then(
      (read) => {
        probe.problem = read === resource ? "" : "what was written is not read";
      },
      (error: unknown) => {
        probe.problem = String(error);
      },
    );
    return probe;
  }

  /** Looks into the memory of nodes, at odd moments. */
  async #sample(random: Random): Promise<void> {
    for (;;) {
      await this.#scheduler.sleep(random.between(100, 3000));
      this.#sampleOf(random.pick(this.#cluster.nodes));
    }
  }

  #sampleOf({ engine, fleet, name: node }: SimNode): void {
    for (const each of fleet?.differences() ?? []) {
      this.#fail("rows that are kept are those that their facts give", `${node}: ${each}`);
    }
    if (engine?.mode !== "following") return;
    this.#samples.push({ node, sequence: engine.head, fingerprint: engine.peek(fingerprint) });
  }

  #fail(invariant: string, detail: string): void {
    this.#failures.push({ invariant, detail });
    this.#transcript.say("!!", `${invariant}: ${detail}`);
  }
}
