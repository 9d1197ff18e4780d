/**
 * Fencing tokens, and who sees them. A token is the proof that its holder shows with a write, so it
 * is told to the holder and to operators; everybody else reads 0 in its place.
 */
import { ownerOf, type By } from "./by.ts";
import { byOfEvent, encodedAs, type Event, type RecordedEvent } from "./events.ts";
import type { Lease } from "./leases.ts";
import type { State } from "./state.ts";
import type { Task } from "./tasks.ts";

const HIDDEN = 0;

export interface Fencing {
  /** One counter for leases and claims. */
  lastToken: number;
  /**
   * After a loss: no token and no term that was handed out before, also by events that are lost, is
   * above it. What is handed out now begins there.
   */
  floor: number;
}

/** No token and no term that the state hands out or handed out is above it. */
export function fenceOf({ fencing, elections }: State): number {
  return Math.max(fencing.lastToken, elections.highestTerm, elections.termFloor);
}

/** Events may have been lost that handed out anything up to here. */
export function raiseFloor({ fencing }: State, floor: number): void {
  fencing.floor = Math.max(fencing.floor, floor);
  fencing.lastToken = Math.max(fencing.lastToken, floor);
}

export function leaseFor(lease: Lease, by: By): Lease {
  if (by.isOperator || ownerOf(lease) === by.principal.name) return lease;
  return { ...lease, token: HIDDEN };
}

export function taskFor({ agents }: State, task: Task, by: By): Task {
  if (by.isOperator || task.token === HIDDEN) return task;
  const claimer = agents.byId.get(task.claimedBy)?.agent;
  if (claimer && ownerOf(claimer) === by.principal.name) return task;
  return { ...task, token: HIDDEN };
}

/** The same for all that may not see it: what many watchers are told is made once. */
const hidden = new WeakMap<RecordedEvent, RecordedEvent>();

export function eventFor(recorded: RecordedEvent, by: By): RecordedEvent {
  if (by.isOperator || isHolder(recorded, by.principal.name)) return recorded;
  const known = hidden.get(recorded);
  if (known) return known;
  const event = withoutToken(recorded.event);
  if (event === recorded.event) return recorded;
  const shown = { ...recorded, event, text: encodedAs(recorded, event) };
  hidden.set(recorded, shown);
  return shown;
}

function isHolder(recorded: RecordedEvent, name: string): boolean {
  const { event } = recorded;
  if ("lease" in event) return ownerOf(event.lease) === name;
  return event.type === "task.claimed" && byOfEvent(recorded)?.principal === name;
}

function withoutToken(event: Event): Event {
  switch (event.type) {
    case "lease.acquired":
    case "lease.renewed":
    case "lease.expired":
    case "lease.released":
      return { ...event, lease: { ...event.lease, token: HIDDEN } };
    case "task.claimed":
      return { ...event, claim: { ...event.claim, token: HIDDEN } };
    case "request.answered":
      return { ...event, reply: null };
    default:
      return event;
  }
}
