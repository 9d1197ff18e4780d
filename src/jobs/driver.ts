/**
 * A driver runs a job: it turns an input into a result and reports events on the way, through
 * the context; whether it is a function here, a child process or an agent on another wire, the job
 * has one event stream, one cancel, one lease and one budget.
 */
import type { JobContext } from "./context.ts";

export interface Driver {
  /**
   * Resolves with the result. The signal of the context aborts when the job is over: events after
   * that reach no one.
   */
  run(input: unknown, context: JobContext): unknown;
}

export type AgentFunction = (input: unknown, context: JobContext) => unknown;

/** An agent of this process: a function. */
export function functionDriver(agent: AgentFunction): Driver {
  return { run: agent };
}
