/** Who hears of a job: the session that owns it and those that subscribed to it. */
import type { JobEvent } from "../core/jobs/events.ts";
import type { Outcome } from "../core/jobs/outcome.ts";
import type { Job } from "./job.ts";

/** What a job said, and when. It is written once, by the first who needs it as text. */
export interface SaidEvent {
  readonly event: JobEvent;
  readonly atMs: number;
  /** The payload as text, once somebody made it. */
  text: string | undefined;
}

export interface Follower {
  onEvent(job: Job, said: SaidEvent): void;
  onEnded(job: Job, outcome: Outcome): void;
}

/** The session a job belongs to: what it hears is where the history of the job is read from. */
export interface JobOwner extends Follower {
  readonly id: string;
  readonly principal: string;
  /** How many entries its stream has. */
  readonly head: number;
  /** The largest frame that can be sent to it now. */
  readonly frameBytes: number;
  /** Whether it can be told of a result in chunks. */
  readonly takesChunks: boolean;
  /** A job of its own: a new one, or one that is here again after a start. */
  onJob(job: Job): void;
  /** Nobody can ask for this job any more: what stands of it may go. */
  onForgotten(job: Job): void;
}
