/**
 * One run of a node's program, from start to crash. Whatever enters it (a timer, an answer of the
 * log, a message) passes here: at once while it runs, later while it is paused, never once it is
 * dead. An engine that nothing enters any more is as gone as one whose machine burned down.
 */
import type { Scheduler } from "./scheduler.ts";

export class Process {
  readonly #scheduler: Scheduler;
  #state: "running" | "paused" | "dead" = "running";
  #backlog: (() => void)[] = [];
  readonly #onKill: (() => void)[] = [];

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  get isDead(): boolean {
    return this.#state === "dead";
  }

  get isRunning(): boolean {
    return this.#state === "running";
  }

  enter(call: () => void): void {
    switch (this.#state) {
      case "running":
        call();
        return;
      case "paused":
        this.#backlog.push(call);
        return;
      case "dead":
        return;
    }
  }

  /** Resolves after the time, if this process still runs then. */
  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#scheduler.after(delayMs, () => this.enter(resolve));
    });
  }

  pause(): void {
    if (this.#state === "running") this.#state = "paused";
  }

  resume(): void {
    if (this.#state !== "paused") return;
    this.#state = "running";
    const backlog = this.#backlog;
    this.#backlog = [];
    // One step each, in order, before whatever comes later.
    for (const call of backlog) this.#scheduler.after(0, () => this.enter(call));
  }

  kill(): void {
    if (this.isDead) return;
    this.#state = "dead";
    this.#backlog = [];
    for (const call of this.#onKill) call();
  }

  onKill(call: () => void): void {
    this.#onKill.push(call);
  }
}
