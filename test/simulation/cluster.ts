/** All machines of one world on one log, and how the nodes talk to each other. */
import { codeOf, RollcallError } from "../../src/core/errors.ts";
import { rules, type Rules } from "../../src/core/rules.ts";
import type { Forwarder } from "../../src/engine/forward.ts";
import type { History } from "./history.ts";
import type { Network } from "./network.ts";
import { SimNode } from "./node.ts";
import type { Plant } from "./plants.ts";
import type { Profile } from "./profile.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import { MAX_DRIFT, SimClock } from "./sim-clock.ts";
import type { SimDisk } from "./sim-disk.ts";
import type { LogFaults } from "./sim-link.ts";
import { SimJobs } from "./sim-jobs.ts";
import { simStore } from "./sim-streams.ts";
import type { Transcript } from "./transcript.ts";

export interface ClusterOptions {
  readonly profile: Profile;
  readonly plant: Plant | undefined;
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly transcript: Transcript;
  readonly disk: SimDisk;
  readonly network: Network;
  readonly history: History;
  readonly faults: () => LogFaults;
}

/** How long a node waits for another one. */
const FORWARD_MS = 5000;

export class Cluster {
  readonly #options: ClusterOptions;
  readonly nodes: readonly SimNode[];

  constructor(options: ClusterOptions) {
    this.#options = options;
    const { profile } = options;
    this.nodes = Array.from({ length: profile.nodes }, (_, i) => this.#node(`n${i + 1}`));
  }

  #node(name: string): SimNode {
    const { profile, plant, scheduler, random, transcript, disk, faults } = this.#options;
    const rate = 1 + MAX_DRIFT * (2 * random.fraction() - 1);
    const clock = new SimClock(scheduler, rate, random.between(-3000, 3000));
    const runs = random.fork(name);
    transcript.count("fault", "drift");
    return new SimNode({
      name,
      clock,
      scheduler,
      transcript,
      provide: (process) => {
        const own = runs.fork("run");
        const { shared, keptEvents } = profile;
        const given = { node: name, shared, disk, process, scheduler, transcript, faults };
        const { log, streams: plain } = simStore({ ...given, random: own.fork("log") });
        const streams = plant?.streams?.(plain) ?? plain;
        const jobs = { clock: clock.of(process), random: own.fork("jobs"), keptEvents };
        return {
          node: name,
          unheard: plant?.unheard,
          log: plant?.wrap?.(log) ?? log,
          companion: new SimJobs({ ...given, ...jobs, streams }),
          rules: counted(plant?.rules ?? rules, transcript),
          retention: profile.retention,
          failover: profile.failover,
          newId: () => own.id(),
          random: () => own.fraction(),
          forwarder: this.#forwarder(name),
        };
      },
    });
  }

  #forwarder(from: string): Forwarder {
    const { network, history, transcript } = this.#options;
    const call = async <T>(to: string, ask: () => Promise<T>, onDuplicate: () => void) => {
      transcript.count("seen", "forwarded");
      try {
        return await network.call({ from, to, timeoutMs: FORWARD_MS, ask, onDuplicate });
      } catch (error) {
        if (codeOf(error) !== "DEADLINE_EXCEEDED") throw error;
        throw new RollcallError("UNAVAILABLE", `no answer from ${to}`, { cause: error });
      }
    };
    return {
      execute: (leader, command, by) =>
        call(
          leader,
          () =>
            this.#named(leader).ask((engine, jobs) =>
              jobs.execute(command, () => engine.executeHere(command, by)),
            ),
          () => void history.called(`${from}'`, { kind: "command", command, by }, leader),
        ),
      barrier: (leader) =>
        call(
          leader,
          () => this.#named(leader).ask((engine) => engine.barrierHere()),
          () => undefined,
        ),
      beat: (leader, batch) =>
        call(
          leader,
          () => this.#named(leader).ask((engine) => engine.beatHere(batch)),
          () => undefined,
        ),
    };
  }

  #named(name: string): SimNode {
    const node = this.nodes.find((each) => each.name === name);
    if (!node) throw new Error(`there is no node ${name}`);
    return node;
  }
}

/** Also what the job service decides by itself is worth a count. */
function counted(inner: Rules, transcript: Transcript): Rules {
  return {
    ...inner,
    decide(state, command, moment) {
      transcript.count("command", command.type);
      return inner.decide(state, command, moment);
    },
  };
}
