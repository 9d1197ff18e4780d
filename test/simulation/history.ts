/**
 * What clients asked and what they were told, in the order of steps. An answer that never came, or
 * that says "unavailable", leaves open whether and when the thing was done: its end is unknown.
 */
import type { By } from "../../src/core/by.ts";
import { codeOf, type ErrorCode } from "../../src/core/errors.ts";
import type { Command } from "../../src/core/rules.ts";
import type { State } from "../../src/core/state.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SimDisk } from "./sim-disk.ts";
import type { Transcript } from "./transcript.ts";

export type Ask =
  | { readonly kind: "command"; readonly command: Command; readonly by: By }
  | {
      readonly kind: "read";
      readonly noun: "lease" | "group" | "task" | "job" | "fingerprint";
      readonly key: string;
      readonly select: (state: State) => string;
    }
  /** Of one part of the state. */
  | {
      readonly kind: "read";
      readonly noun: "policy";
      readonly key: string;
      readonly select: (state: Pick<State, "policies">) => string;
    };

export type Outcome =
  | { readonly kind: "ok"; readonly reply: unknown }
  | { readonly kind: "refused"; readonly code: ErrorCode }
  | { readonly kind: "unknown" };

export interface Op {
  readonly id: number;
  readonly who: string;
  readonly ask: Ask;
  readonly calledAt: number;
  readonly calledMs: number;
  /** What was durable when it was called. */
  readonly headAtCall: number;
  /** Infinity while nobody knows. */
  returnedAt: number;
  headAtReturn: number;
  outcome: Outcome;
}

/** Answers that leave open what happened. */
const OPEN_CODES: readonly ErrorCode[] = ["UNAVAILABLE", "DEADLINE_EXCEEDED"];

export class History {
  readonly #scheduler: Scheduler;
  readonly #disk: SimDisk;
  readonly #transcript: Transcript;
  readonly ops: Op[] = [];

  constructor(scheduler: Scheduler, disk: SimDisk, transcript: Transcript) {
    this.#scheduler = scheduler;
    this.#disk = disk;
    this.#transcript = transcript;
  }

  called(who: string, ask: Ask, where: string): Op {
    const op: Op = {
      id: this.ops.length + 1,
      who,
      ask,
      calledAt: this.#scheduler.steps,
      calledMs: this.#scheduler.nowMs,
      headAtCall: this.#disk.toldHead,
      returnedAt: Infinity,
      headAtReturn: Infinity,
      outcome: { kind: "unknown" },
    };
    this.ops.push(op);
    if (ask.kind === "read") this.#transcript.count("command", "read");
    this.#transcript.say(who, () => `#${op.id} asks ${where}: ${describe(ask)}`);
    return op;
  }

  answered(op: Op, reply: unknown): void {
    this.#close(op, { kind: "ok", reply });
  }

  failed(op: Op, error: unknown): void {
    const code = codeOf(error);
    if (!OPEN_CODES.includes(code)) return this.#close(op, { kind: "refused", code });
    this.#transcript.count("outcome", code);
    this.#transcript.say(op.who, `#${op.id} learns nothing: ${code}`);
  }

  #close(op: Op, outcome: Exclude<Outcome, { kind: "unknown" }>): void {
    op.outcome = outcome;
    op.returnedAt = this.#scheduler.steps;
    op.headAtReturn = this.#disk.head;
    this.#transcript.count("outcome", outcome.kind === "refused" ? outcome.code : "ok");
    const told = () => (outcome.kind === "ok" ? brief(outcome.reply) : outcome.code);
    this.#transcript.say(op.who, () => `#${op.id} is told ${told()}`);
  }
}

export function describe(ask: Ask): string {
  return ask.kind === "command"
    ? `${JSON.stringify(ask.command)} by ${ask.by.principal.name}`
    : `read ${ask.noun} ${ask.key}`;
}

function brief(reply: unknown): string {
  const text = JSON.stringify(reply);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
