/**
 * Views that are kept beside the state (the rows of the fleet, the order of a list) are told of
 * every event before it changes the state, durable or not, and when another state takes its place.
 * They note what is touched, and nothing more: a command waits for them.
 */
import type { Event } from "../core/events.ts";
import type { Job } from "../core/jobs.ts";
import type { State } from "../core/state.ts";

export interface Observer {
  /** The state is still as it was before the event, which has the next sequence. */
  before(event: Event, state: State): void;
  /** Soft: a heartbeat of this agent was taken, without an event. */
  heard?(agentId: string): void;
  /** Soft: the job said or spent something, without an event. */
  felt?(job: Job): void;
  /** This is the state from now on: the first one, or one that was rebuilt. */
  replaced(state: State, sequence: number): void;
}

interface Observed {
  readonly state: State;
  readonly head: number;
  observers: Observers | undefined;
}

export class Observers {
  readonly #all = new Set<Observer>();
  #replica: Observed | undefined;

  add(observer: Observer): () => void {
    this.#all.add(observer);
    if (this.#replica) observer.replaced(this.#replica.state, this.#replica.head);
    return () => this.#all.delete(observer);
  }

  /** From now on they observe this one. */
  attach(replica: Observed): void {
    this.#replica = replica;
    replica.observers = this;
    for (const each of this.#all) each.replaced(replica.state, replica.head);
  }

  before(event: Event, state: State): void {
    for (const each of this.#all) each.before(event, state);
  }

  heard(agentId: string): void {
    for (const each of this.#all) each.heard?.(agentId);
  }

  felt(job: Job): void {
    for (const each of this.#all) each.felt?.(job);
  }
}
