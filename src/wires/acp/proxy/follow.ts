/**
 * The timelines of all agents behind proxies, as they grow: first the last lines that are there,
 * then every new one. Files are read from where the last look ended; one that was begun anew, as it
 * had grown too long, from its start.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import { setInterval } from "node:timers/promises";
import { parsedRecord } from "../../../core/json-object.ts";
import { FOLLOW } from "./limits.ts";
import type { TimelineLine } from "./timeline.ts";

export interface TimelineFollowOptions {
  readonly folder: string;
  /** How many of the lines that are there. */
  readonly last: number;
  /** The lines that are wanted, given those that are there. */
  readonly wanted: (there: readonly TimelineLine[]) => (line: TimelineLine) => boolean;
  readonly signal: AbortSignal;
}

export async function* followTimelines(
  options: TimelineFollowOptions,
): AsyncGenerator<TimelineLine> {
  const { folder, last, wanted, signal } = options;
  const places = new Map<string, number>();
  const all = newLines(folder, places).toSorted((a, b) => a.at.localeCompare(b.at));
  const isWanted = wanted(all);
  const there = all.filter(isWanted);
  yield* there.slice(Math.max(0, there.length - last));
  try {
    for await (const _ of setInterval(FOLLOW.pollMs, undefined, { signal })) {
      yield* newLines(folder, places).filter(isWanted);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function newLines(folder: string, places: Map<string, number>): readonly TimelineLine[] {
  const names = namesIn(folder);
  for (const name of places.keys()) if (!names.includes(name)) places.delete(name);
  return names.flatMap((name) => {
    const path = join(folder, name);
    const size = fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    const place = places.get(name) ?? 0;
    const from = size < place ? 0 : place;
    if (size === from) return [];
    const text = textFrom(path, from);
    // The rest of a line that is being written comes with the next look.
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    places.set(name, from + Buffer.byteLength(whole));
    return whole.split("\n").flatMap(lineIn);
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return fs.readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  } catch {
    return [];
  }
}

function textFrom(path: string, from: number): string {
  const file = fs.openSync(path, "r");
  try {
    const bytes = Buffer.alloc(FOLLOW.readBytes);
    return bytes.toString("utf8", 0, fs.readSync(file, bytes, 0, bytes.length, from));
  } finally {
    fs.closeSync(file);
  }
}

function lineIn(text: string): readonly TimelineLine[] {
  const { at, status, ...rest } = parsedRecord(text) ?? {};
  const isLine = typeof at === "string" && typeof status === "string";
  return isLine ? [{ ...rest, at, status } as TimelineLine] : [];
}
