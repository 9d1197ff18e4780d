/**
 * A command that a member hands on may reach the leader twice: it was asked again, and the first
 * copy came late. What changed something is in the log under its name (core/requests.ts) and is not
 * done again. An answer that changed nothing, or a refusal, is remembered here: else the late copy
 * might be granted after its caller was told that it was not.
 */
import { LATE_COPIES } from "../core/limits.ts";
import { ShortLivedMap } from "../core/short-lived-map.ts";
import type { Clock } from "../core/clock.ts";
import { isPassing } from "./forwarding.ts";

interface Told {
  readonly answer: Promise<unknown>;
  readonly askedAtMs: number;
}

export class LateCopies {
  readonly #clock: Clock;
  /** By the names of requests, the oldest first. */
  readonly #told = new ShortLivedMap<string, Told>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Decides, unless it did so before under this name; `isLogged` when there is an answer. */
  once<T>(name: string, decide: () => Promise<T>, isLogged: () => boolean): Promise<T> {
    const told = this.#told.get(name);
    if (told) return told.answer as Promise<T>;
    const answer = decide();
    this.#told.set(name, { answer, askedAtMs: this.#clock.monotonicMs() });
    answer.then(
      () => {
        if (isLogged()) this.#told.delete(name);
      },
      (error: unknown) => {
        if (isPassing(error)) this.#told.delete(name);
      },
    );
    this.#forget();
    return answer;
  }

  #forget(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [name, { askedAtMs }] of this.#told.entries()) {
      const isTooMany = this.#told.size > LATE_COPIES.kept;
      if (!isTooMany && nowMs - askedAtMs < LATE_COPIES.keptMs) return;
      this.#told.delete(name);
    }
  }
}
