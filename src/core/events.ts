/** Everything that can happen, and the form in which the log keeps it. */
import type { AgentEvent } from "./agents.ts";
import type { DirectoryEvent } from "./directory.ts";
import type { ElectionEvent } from "./elections.ts";
import type { CredentialEvent } from "./credentials.ts";
import type { JobEvent } from "./jobs.ts";
import type { LeaseEvent } from "./leases.ts";
import type { NodeEvent } from "./nodes.ts";
import type { PolicyEvent } from "./policies.ts";
import type { QuestionEvent } from "./questions.ts";
import type { ReportEvent } from "./reports.ts";
import type { SessionEvent } from "./sessions.ts";
import type { TaskEvent } from "./tasks.ts";
import type { TokenEvent } from "./tokens.ts";

export type Event =
  | AgentEvent
  | LeaseEvent
  | ElectionEvent
  | PolicyEvent
  | TaskEvent
  | ReportEvent
  | QuestionEvent
  | JobEvent
  | SessionEvent
  | CredentialEvent
  | TokenEvent
  | DirectoryEvent
  | NodeEvent;

/** The topic of an event is its type: watchers ask for prefixes of it. */
export type Topic = Event["type"];

/** An event in its place. */
export interface RecordedEvent {
  readonly sequence: number;
  readonly atMs: number;
  readonly event: Event;
  /** As the log keeps it. */
  readonly text: string;
}

/** The moment, a space, and the event as JSON. */
export function encode(event: Event, atMs: number): string {
  return `${atMs} ${JSON.stringify(event)}`;
}

export function decode(text: string, sequence: number): RecordedEvent {
  const space = text.indexOf(" ");
  const event = JSON.parse(text.slice(space + 1)) as Event;
  return { sequence, atMs: Number(text.slice(0, space)), event, text };
}

/** The event as JSON, which nobody need encode again. */
export function jsonOf({ text }: RecordedEvent): string {
  return text.slice(text.indexOf(" ") + 1);
}
