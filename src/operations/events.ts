/** Events as they are told: by the stream of all of them, and in the timeline of an agent. */
import { z } from "zod";
import type { RecordedEvent } from "../core/events.ts";
import { text, whole } from "./fields.ts";
import type { Answer } from "./operation.ts";

export const EVENT = z
  .looseObject({
    sequence: whole("Its place in the log", 42),
    topic: text("The kind of event", "lease.acquired"),
    at: text("When, as ISO 8601", "2026-06-20T16:04:05.000Z"),
  })
  .meta({ id: "Event", description: "An event, with the fields of its topic" });

export function eventAnswer({ sequence, atMs, event }: RecordedEvent): Answer<typeof EVENT> {
  return { sequence, topic: event.type, at: new Date(atMs).toISOString(), ...event };
}
