/**
 * The job service of one process, with agents that work on virtual time: they talk, spend, ask,
 * delegate, fail and hang, and take no notice of their signal.
 */
import type { Clock } from "../../src/core/clock.ts";
import { RollcallError } from "../../src/core/errors.ts";
import type { Event } from "../../src/core/events.ts";
import { JOBS, SESSIONS } from "../../src/core/jobs/limits.ts";
import { limitJobs } from "../../src/core/job-deadlines.ts";
import type { Command } from "../../src/core/rules.ts";
import { limitSessions } from "../../src/core/sessions.ts";
import type { State } from "../../src/core/state.ts";
import type { Companion, Term } from "../../src/engine/companion.ts";
import { JobAgents } from "../../src/jobs/agents.ts";
import type { JobContext } from "../../src/jobs/context.ts";
import { JobService } from "../../src/jobs/jobs.ts";
import type { Streams } from "../../src/log/streams.ts";
import type { Process } from "./process.ts";
import type { Random } from "./random.ts";

/** So little room that every life runs into it; the same on all nodes. */
const LIMITS = {
  ...JOBS,
  running: 6,
  runningPerPrincipal: 3,
  queuedPerPrincipal: 3,
  cancelGraceMs: 2_000,
  restarts: 2,
  depth: 2,
  childrenAtOnce: 2,
  finished: 4,
};
const WINDOW = { ...SESSIONS, resumeWindowSec: 20, perPrincipal: 6 };

/** As every node has them, and whoever replays the log must. */
export function setLimits(state: State): void {
  limitJobs(state, LIMITS);
  limitSessions(state, WINDOW);
}

export interface SimJobsOptions {
  readonly node: string;
  readonly streams: Streams;
  readonly process: Process;
  readonly clock: Clock;
  readonly random: Random;
  readonly keptEvents: number;
}

/** Said by an agent that was started without what it was given. */
export const INPUT_LOST = "the input is lost";

export class SimJobs implements Companion {
  readonly #options: SimJobsOptions;
  readonly #jobs: JobService;

  constructor(options: SimJobsOptions) {
    this.#options = options;
    const { node, streams, clock, random, keptEvents } = options;
    const agents = new JobAgents();
    const work = (input: unknown, job: JobContext) => this.#work(input, job);
    agents.register("mortal", work);
    agents.register("phoenix", work, { restart: "always" });
    this.#jobs = new JobService({
      node,
      streams,
      agents,
      clock,
      limits: LIMITS,
      kept: { events: keptEvents, bytes: Infinity },
      newId: () => random.id(),
      ownerOf: () => undefined,
      onTrouble: () => undefined,
      provisioner: undefined,
      authorizer: undefined,
      around: undefined,
      observers: [],
    });
  }

  prepare(state: State): Promise<void> {
    limitSessions(state, WINDOW);
    return this.#jobs.prepare(state);
  }

  lead(term: Term): void {
    this.#jobs.begin(term);
    this.#jobs.revive();
  }

  onEvent(event: Event): void {
    this.#jobs.onEvent(event);
  }

  end(): void {
    this.#jobs.end();
  }

  /** Has a command executed; where this node decides that a job begins, it runs here. */
  execute<T>(command: Command, execute: () => T): T {
    if (command.type !== "job.submit") return execute();
    const parent = this.#jobs.run(command.parent);
    const terms = { input: command.jobId, parent, ownerOf: () => undefined, keepsInput: true };
    return this.#jobs.accept(terms, execute);
  }

  /** Counts what it says from 0, so that nothing can be missing or there twice. */
  async #work(input: unknown, job: JobContext): Promise<string> {
    if (typeof input !== "string") throw new RollcallError("INTERNAL", INPUT_LOST);
    const { process } = this.#options;
    const random = this.#options.random.fork(job.jobId);
    const steps = random.between(1, 5);
    for (let said = 0; said < steps; said += 1) {
      await process.sleep(random.between(10, 900));
      await job.log("info", String(said));
      this.#jobs.sweep();
      await this.#act(job, random);
    }
    // For ever: until a deadline, a cancel or the end of its parent.
    if (random.chance(0.2)) await new Promise(() => undefined);
    if (random.chance(0.2)) throw new RollcallError("INTERNAL", "tired");
    return "done";
  }

  async #act(job: JobContext, random: Random): Promise<void> {
    switch (random.between(0, 8)) {
      case 0:
      case 1:
        return job.metric("cost.tokens", random.between(1, 8) / 4, { unit: "USD" });
      case 2:
        return job.progress(random.between(0, 20), { total: 20 });
      case 3:
        return job.status(random.pick(["reading", "writing", "awaiting_approval"]));
      case 4: {
        const lease = random.chance(0.5) ? { "cost.budget": ["USD:1"] } : {};
        // Its lease may not allow it, or its budget may not reach.
        const how = { lease, input: "for a child" };
        await job.delegate(random.pick(["mortal", "phoenix"]), how).catch(() => undefined);
        return;
      }
    }
  }
}
