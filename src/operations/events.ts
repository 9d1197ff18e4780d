/** Events as they are told: by the stream of all of them, and in the timeline of an agent. */
import { z } from "zod";
import type { RecordedEvent } from "../core/events.ts";
import { callerSeen, type Sight } from "../core/visibility.ts";
import { text, whole } from "./fields.ts";
import type { Answer } from "./operation.ts";

export const EVENT_SHAPE = z
  .looseObject({
    sequence: whole("Its place in the log", 42),
    topic: text("The kind of event", "lease.acquired"),
    at: text("When, as ISO 8601", "2026-06-20T16:04:05.000Z"),
    by: z
      .strictObject({
        principal: text("The caller's name", "local"),
        wire: text("How it called", "http"),
        peer: text("From where; empty within the daemon", "socket"),
      })
      .optional()
      .describe("The caller of the command it came of; absent for the daemon's own, as an expiry"),
  })
  .meta({ id: "Event", description: "An event, with the fields of its topic" });

export function eventAnswer(sight: Sight, recorded: RecordedEvent): Answer<typeof EVENT_SHAPE> {
  const { sequence, atMs, event } = recorded;
  const by = callerSeen(sight, recorded);
  const at = new Date(atMs).toISOString();
  return { sequence, topic: event.type, at, ...event, ...(by && { by }) };
}
