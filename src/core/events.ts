/** Everything that can happen, and the form in which the log keeps it. */
import type { AgentEvent } from "./agents.ts";
import { ITSELF, recordedBy, type By, type RecordedBy } from "./by.ts";
import type { DirectoryEvent } from "./directory.ts";
import type { ElectionEvent } from "./elections.ts";
import type { CredentialEvent } from "./credentials.ts";
import type { HostJobEvent } from "./host-jobs.ts";
import type { JobEvent } from "./jobs.ts";
import type { LeaseEvent } from "./leases.ts";
import type { MemberEvent } from "./members.ts";
import type { NodeEvent } from "./nodes.ts";
import type { OutpostEvent } from "./outposts.ts";
import type { PolicyEvent } from "./policies.ts";
import type { QuestionEvent } from "./questions.ts";
import type { ReportEvent } from "./reports.ts";
import type { RequestEvent } from "./requests.ts";
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
  | OutpostEvent
  | HostJobEvent
  | JobEvent
  | SessionEvent
  | CredentialEvent
  | TokenEvent
  | DirectoryEvent
  | NodeEvent
  | MemberEvent
  | RequestEvent;

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

/** The moment, the caller of the command where there was one, and the event as JSON. */
export function encode(event: Event, atMs: number, { text: by }: By = ITSELF): string {
  const json = JSON.stringify(event);
  return by === "" ? `${atMs} ${json}` : `${atMs} ${by} ${json}`;
}

export function decode(text: string, sequence: number): RecordedEvent {
  const event = JSON.parse(text.slice(jsonAt(text))) as Event;
  return { sequence, atMs: atMsOf(text), event, text };
}

/** Digit by digit: a start reads a million of them, and a text of its own for each is dearer. */
function atMsOf(text: string): number {
  let atMs = 0;
  for (let i = 0; i < text.length; i += 1) {
    const digit = text.charCodeAt(i) - ZERO;
    if (digit < 0) return atMs;
    atMs = 10 * atMs + digit;
  }
  return atMs;
}

const ZERO = "0".charCodeAt(0);

/** The text of another event in the place of a recorded one. */
export function encodedAs({ text }: RecordedEvent, event: Event): string {
  return text.slice(0, jsonAt(text)) + JSON.stringify(event);
}

/** Where the JSON begins; the text of a caller begins with no brace, and has no space. */
function jsonAt(text: string): number {
  const next = text.indexOf(" ") + 1;
  return text.startsWith("{", next) ? next : text.indexOf(" ", next) + 1;
}

/** The caller of the command that an event came of; none where it is the engine's own. */
export function byOfEvent({ text }: RecordedEvent): RecordedBy | undefined {
  const begin = text.indexOf(" ") + 1;
  const end = jsonAt(text) - 1;
  return end < begin ? undefined : recordedBy(text.slice(begin, end));
}

/** The event as JSON, with its caller where that is told, made of what was encoded already. */
export function jsonOf({ text }: RecordedEvent, by: RecordedBy | undefined): string {
  const json = text.slice(jsonAt(text));
  return by ? `${json.slice(0, -1)},"by":${JSON.stringify(by)}}` : json;
}
