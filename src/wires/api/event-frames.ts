/**
 * Watched events as server-sent events. A thousand subscribers of one event get the same bytes, so
 * they are made once.
 */
import { jsonOf, type RecordedEvent } from "../../core/events.ts";
import { callerSeen, EVERYTHING, type Sight } from "../../core/visibility.ts";
import type { WatchItem } from "../../engine/watch.ts";
import { EVENT_STREAM } from "./limits.ts";
import { refusalOf } from "./refusal.ts";

/** Lives as long as the engine keeps the event at hand for all. */
const frames = new WeakMap<RecordedEvent, Buffer>();

export const OPENING = Buffer.from(`retry: ${EVENT_STREAM.retryMs}\n\n`);
export const HEARTBEAT_FRAME = Buffer.from(":\n\n");

/** For those that see everything unless told otherwise. */
export function frameOf(item: WatchItem, sight = EVERYTHING): Buffer {
  if (item.kind !== "event") return placeFrame(item.kind, item.sequence);
  if (sight !== EVERYTHING) return eventFrame(item.recorded, sight);
  const known = frames.get(item.recorded);
  if (known) return known;
  const frame = eventFrame(item.recorded, sight);
  frames.set(item.recorded, frame);
  return frame;
}

/** Where the watcher stands now: to resume from, or to read the state anew. */
export function placeFrame(kind: "bookmark" | "resync", sequence: number): Buffer {
  return Buffer.from(`id: ${sequence}\nevent: ${kind}\ndata: {"sequence":${sequence}}\n\n`);
}

/** The last words; they carry no id, so that a client resumes where it stood. */
export function errorFrame(error: unknown): Buffer {
  return Buffer.from(`event: error\ndata: ${refusalOf(error).body}\n\n`);
}

interface FrameFacts {
  readonly sequence: number;
  readonly [name: string]: unknown;
}

/** A state as it is after an event: its sequence is the id, if one can go on from there. */
export function factFrame(kind: string, facts: FrameFacts, isPlace = true): Buffer {
  const id = isPlace ? `id: ${facts.sequence}\n` : "";
  return Buffer.from(`${id}event: ${kind}\ndata: ${JSON.stringify(facts)}\n\n`);
}

function eventFrame(recorded: RecordedEvent, sight: Sight): Buffer {
  const { sequence, event } = recorded;
  const data = eventText(recorded, sight);
  return Buffer.from(`id: ${sequence}\nevent: ${event.type}\ndata: ${data}\n\n`);
}

/** As operations/events.ts has it, made of what the log holds as text already. */
function eventText(recorded: RecordedEvent, sight: Sight): string {
  const { sequence, atMs, event } = recorded;
  const at = new Date(atMs).toISOString();
  const head = `{"sequence":${sequence},"topic":"${event.type}","at":"${at}",`;
  return head + jsonOf(recorded, callerSeen(sight, recorded)).slice(1);
}
