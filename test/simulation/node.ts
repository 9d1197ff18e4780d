/** A machine of the cluster: its clocks last, its program starts, pauses, crashes, starts again. */
import { RollcallError } from "../../src/core/errors.ts";
import type { Topic } from "../../src/core/events.ts";
import { Engine } from "../../src/engine/engine.ts";
import type { EngineOptions } from "../../src/engine/options.ts";
import { FleetCheck } from "./fleet-check.ts";
import { Process } from "./process.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SimClock } from "./sim-clock.ts";
import type { SimJobs } from "./sim-jobs.ts";
import type { Transcript } from "./transcript.ts";

export interface SimNodeOptions {
  readonly name: string;
  readonly clock: SimClock;
  readonly scheduler: Scheduler;
  readonly transcript: Transcript;
  /** All that a run of the program is given, but for its clocks. */
  readonly provide: (process: Process) => Provided;
}

export interface Provided extends Omit<EngineOptions, "clock" | "onTrouble" | "companion"> {
  readonly companion: SimJobs;
  /** Events that the views beside the state are not told of. */
  readonly unheard: Topic | undefined;
}

/** Between two tries to open the log. */
const REOPEN_MS = 300;

export class SimNode {
  readonly #options: SimNodeOptions;
  readonly name: string;
  readonly clock: SimClock;
  #process: Process;
  #engine: Engine | undefined;
  #jobs: SimJobs | undefined;
  #fleet: FleetCheck | undefined;
  #isClosing = false;

  constructor(options: SimNodeOptions) {
    this.#options = options;
    this.name = options.name;
    this.clock = options.clock;
    this.#process = new Process(options.scheduler);
    this.#process.kill();
  }

  /** The engine, when it runs and has opened. */
  get engine(): Engine | undefined {
    return this.#process.isRunning ? this.#engine : undefined;
  }

  /** The check of its fleet, when the engine runs. */
  get fleet(): FleetCheck | undefined {
    return this.#process.isRunning ? this.#fleet : undefined;
  }

  get isUp(): boolean {
    return !this.#process.isDead;
  }

  /** Starts what is down or about to be, and goes on with what is paused. */
  start(): void {
    if (this.#isClosing) this.crash();
    if (this.isUp) return this.#process.resume();
    this.#options.transcript.say(this.name, "starts");
    this.#engine = undefined;
    this.#isClosing = false;
    this.#process = new Process(this.#options.scheduler);
    void this.#open(this.#process);
  }

  /** All it had in memory is gone; what it was asked is never answered. */
  crash(): void {
    this.#process.kill();
  }

  pause(): void {
    this.#process.pause();
  }

  resume(): void {
    this.#process.resume();
  }

  /** Asks it to end by itself, and to leave nothing behind. */
  close(): void {
    const process = this.#process;
    this.#isClosing = true;
    process.enter(() => {
      void this.#engine?.close().then(() => {
        this.#options.transcript.count("seen", "closed");
        this.#options.transcript.say(this.name, "has closed");
        process.kill();
      });
    });
  }

  /** Has the engine do something; a node that is down answers nothing. */
  ask<T>(act: (engine: Engine, jobs: SimJobs) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#process.enter(() => {
        if (this.#engine && this.#jobs) act(this.#engine, this.#jobs).then(resolve, reject);
        else reject(new RollcallError("UNAVAILABLE", `${this.name} is starting`));
      });
    });
  }

  async #open(process: Process): Promise<void> {
    const { clock, transcript } = this.#options;
    const onTrouble = (what: string, error: unknown) => {
      transcript.say(this.name, `${what}: ${error instanceof Error ? error.message : "?"}`);
    };
    const { unheard, ...provided } = this.#options.provide(process);
    const options = { ...provided, clock: clock.of(process), onTrouble };
    this.#fleet = undefined;
    this.#jobs = options.companion;
    while (!this.#engine) {
      try {
        this.#engine = await Engine.open(options);
      } catch (error) {
        onTrouble("could not open", error);
        await process.sleep(REOPEN_MS);
      }
    }
    this.#fleet = new FleetCheck(this.#engine, options.clock, unheard);
    transcript.say(this.name, `is open at ${this.#engine.head}`);
  }
}
