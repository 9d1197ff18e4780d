/**
 * A place in this daemon's log, in the words that the team keeps for us. Beside the sequence it has
 * a digest of the event there: a log that was made anew, or restored from a backup, has another
 * event in that place, and then the team is told everything. It also has a digest of what may
 * leave: where that was changed, what the team has was told by another rule.
 */
import { createHash } from "node:crypto";
import type { RecordedEvent } from "../../core/events.ts";

export interface Cursor {
  readonly sequence: number;
  /** Of the event. */
  readonly digest: string;
  /** Of the policy by which everything up to here was told. */
  readonly policy: string;
}

export function cursorAt({ sequence, text }: RecordedEvent, policy: string): string {
  return `${sequence}.${digestOf(text)}.${policy}`;
}

export function readCursor(text: string): Cursor | undefined {
  const [, sequence, digest = "", policy = ""] = /^(\d{1,15})\.(\w+)\.(\w+)$/.exec(text) ?? [];
  return sequence === undefined ? undefined : { sequence: Number(sequence), digest, policy };
}

export function isAt({ sequence, digest }: Cursor, recorded: RecordedEvent): boolean {
  return recorded.sequence === sequence && digestOf(recorded.text) === digest;
}

/** Sixteen digits: two that differ are the same once in 2^64. */
export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
