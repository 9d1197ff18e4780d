/** Who did what when, as one reads a play; and how often each kind of thing happened. */
import type { Scheduler } from "./scheduler.ts";

export class Transcript {
  readonly #scheduler: Scheduler;
  readonly #entries: (readonly [atMs: number, who: string, what: string | (() => string)])[] = [];
  /** By "kind: what", in order of name when shown. */
  readonly counts = new Map<string, number>();

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /** What is dear to write is written only when somebody reads it. */
  say(who: string, what: string | (() => string)): void {
    this.#entries.push([this.#scheduler.nowMs, who, what]);
  }

  lines(): string[] {
    return this.#entries.map(([atMs, who, what]) => {
      const text = typeof what === "string" ? what : what();
      return `${(atMs / 1000).toFixed(3).padStart(8)}  ${who.padEnd(7)} ${text}`;
    });
  }

  count(kind: "fault" | "command" | "event" | "stream" | "outcome" | "seen", what: string): void {
    const name = `${kind}: ${what}`;
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  /** A fault both happens and counts. */
  fault(who: string, kind: string, detail = ""): void {
    this.count("fault", kind);
    this.say(who, `** ${kind}${detail && ` ${detail}`}`);
  }
}
