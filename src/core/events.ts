/** Everything that can happen, and the form in which the log keeps it. */
import type { AgentEvent } from "./agents.ts";
import type { ElectionEvent } from "./elections.ts";
import type { LeaseEvent } from "./leases.ts";
import type { NodeEvent } from "./nodes.ts";
import type { PolicyEvent } from "./policies.ts";
import type { TaskEvent } from "./tasks.ts";

export type Event = AgentEvent | LeaseEvent | ElectionEvent | PolicyEvent | TaskEvent | NodeEvent;

/** The topic of an event is its type: watchers ask for prefixes of it. */
export type Topic = Event["type"];

/** An event in its place. */
export interface Recorded {
  readonly sequence: number;
  readonly atMs: number;
  readonly event: Event;
  /** As the log keeps it; what sends it on as JSON need not encode it again. */
  readonly text: string;
}

/** `atMs` stands beside the event's own fields: no event may have one of that name. */
export function encode(event: Event, atMs: number): string {
  return `{"atMs":${atMs},${JSON.stringify(event).slice(1)}`;
}

export function decode(text: string, sequence: number): Recorded {
  const { atMs, ...event } = JSON.parse(text) as Event & { readonly atMs: number };
  return { sequence, atMs, event, text };
}
