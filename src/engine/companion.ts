/**
 * A companion lives beside the state, for one term of leading at a time: it has in memory what the
 * state has not (running agents, open connections) and writes the streams. What it holds counts for
 * nothing once the term is over: the next one begins from the log, as after a start.
 *
 *   prepare(state) ──▶ lead(term) ──▶ onEvent … ──▶ end
 */
import type { By } from "../core/by.ts";
import type { Event } from "../core/events.ts";
import type { Job } from "../core/jobs.ts";
import type { Command, ReplyTo } from "../core/rules.ts";
import type { State } from "../core/state.ts";
import type { StreamWriter } from "./batch.ts";

/** The powers of a companion while this node leads. */
export interface Term {
  /** Also what is decided and not durable yet. Not to be changed but by soft rules. */
  readonly state: State;
  /** Now, as events tell it. */
  nowMs(): number;
  /** Decides at once; throws the refusal. Not to be published before `after` calls. */
  decide<C extends Command>(command: C, by: By): ReplyTo<C>;
  /** Calls when everything decided and written so far is durable; never if that fails. */
  after(call: () => void): void;
  /**
   * A writer has gathered more for its stream: it goes with the open batch, in one append with the
   * events decided in it.
   */
  join(writer: StreamWriter, length: number): void;
  /** Throws LIMIT_EXCEEDED when with this much more too much would wait for the disk. */
  reserve(length: number): void;
  /** Undefined while producers of stream entries may go on; else when they may again. */
  room(): Promise<void> | undefined;
  /** Stream entries that wait for the disk. */
  readonly streamBytes: number;
  /** Soft: the job said or spent something. Views of it are made anew when somebody looks. */
  felt(job: Job): void;
  /** Something has a deadline at this moment. */
  expect(atMs: number): void;
}

export interface Companion {
  /** The state was rebuilt, this node is about to lead: nothing is decided before it resolves. */
  prepare(state: State): Promise<void>;
  lead(term: Term): void;
  /** An event was decided and stands in the open batch; what is joined now goes with it. */
  onEvent(event: Event): void;
  /** This node no longer leads: what was not durable never happened. */
  end(): void;
}
