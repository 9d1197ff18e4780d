/** The query of an event stream: `?from=SEQ&topic=PREFIX&topic=…`, and its cursor. */
import type { IncomingMessage } from "node:http";
import { invalidArgument, type RollcallError } from "../../core/errors.ts";
import { FIELD } from "../../core/limits.ts";
import type { WatchOptions } from "../../engine/watch.ts";

const KNOWN = ["from", "topic"];

export function watchOptionsOf({ url = "", headers }: IncomingMessage): WatchOptions {
  const { searchParams } = new URL(url, "http://localhost");
  for (const name of searchParams.keys()) {
    if (!KNOWN.includes(name)) throw invalid(`${name} is unknown; there are ${KNOWN.join(", ")}`);
  }
  const [from, ...others] = searchParams.getAll("from");
  if (others.length > 0) throw invalid("from is given more than once");
  const prefixes = searchParams.getAll("topic");
  for (const prefix of prefixes) {
    if (prefix.length > FIELD.keyLength) {
      throw invalid(
        `topic has ${prefix.length} characters, at most ${FIELD.keyLength} are allowed`,
      );
    }
  }
  const stood = placeOf(from, headers["last-event-id"]?.toString());
  return { prefixes, ...(stood !== undefined && { from: stood }) };
}

/** Where it stood. Last-Event-ID is newer than `from`, which browsers repeat on every reconnect. */
export function placeOf(from: string | undefined, last: string | undefined): number | undefined {
  if (last !== undefined && last !== "") return sequence("last-event-id", last);
  return from === undefined ? undefined : sequence("from", from);
}

function sequence(name: string, text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw invalid(`${name} is ${JSON.stringify(text.slice(0, 40))}, not a sequence (0, 1, 2, …)`);
}

function invalid(message: string): RollcallError {
  return invalidArgument(message);
}
