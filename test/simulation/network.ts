/**
 * Messages between clients and nodes, and between nodes: each is delayed, and may be lost or come
 * twice. A question that came twice is answered twice; whoever asked hears the first answer only.
 */
import { RollcallError } from "../../src/core/errors.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Transcript } from "./transcript.ts";

export interface NetworkFaults {
  readonly latencyMs: number;
  readonly slowestMs: number;
  readonly drop: number;
  readonly duplicate: number;
}

export interface Question<T> {
  readonly from: string;
  readonly to: string;
  readonly timeoutMs: number;
  /** Asks the other side; runs there, once per copy of the question that arrives. */
  readonly ask: () => Promise<T>;
  /** The question may arrive a second time, unknown to whoever asked. */
  readonly onDuplicate: () => void;
}

export interface NetworkOptions {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly transcript: Transcript;
  readonly faults: () => NetworkFaults;
}

export class Network {
  readonly #options: NetworkOptions;
  /** Those who are cut off from everybody else. */
  readonly cutOff = new Set<string>();

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  /** Rejects with what the other side said, or DEADLINE_EXCEEDED: then anything is possible. */
  call<T>(question: Question<T>): Promise<T> {
    const { from, to, timeoutMs, ask, onDuplicate } = question;
    return new Promise((resolve, reject) => {
      const cancel = this.#options.scheduler.after(timeoutMs, () => {
        reject(new RollcallError("DEADLINE_EXCEEDED", `no answer from ${to}`));
      });
      const answer = (give: () => void) => {
        this.#send(to, from, () => {
          cancel();
          give();
        });
      };
      const arrive = () => {
        ask().then(
          (reply) => answer(() => resolve(reply)),
          (error: unknown) => answer(() => reject(error instanceof Error ? error : new Error("?"))),
        );
      };
      this.#send(from, to, arrive);
      if (this.#options.random.chance(this.#options.faults().duplicate)) {
        this.#options.transcript.fault(from, "message duplicated", `to ${to}`);
        onDuplicate();
        this.#send(from, to, arrive);
      }
    });
  }

  #send(from: string, to: string, arrive: () => void): void {
    const { scheduler, random, transcript } = this.#options;
    const { latencyMs, slowestMs, drop } = this.#options.faults();
    if (random.chance(drop)) return transcript.fault(from, "message dropped", `to ${to}`);
    const delayMs = random.delayMs(latencyMs, slowestMs);
    if (delayMs > latencyMs) transcript.fault(from, "message delayed", `to ${to}`);
    scheduler.after(delayMs, () => {
      if (this.cutOff.has(from) || this.cutOff.has(to)) {
        transcript.fault(from, "message cut off", `on its way to ${to}`);
      } else arrive();
    });
  }
}
