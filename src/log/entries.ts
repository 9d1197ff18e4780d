/** The checks of every store on its input, so that all refuse the same in the same words. */
import { RollcallError } from "../core/errors.ts";
import type { AppendBatch, LogPosition } from "./log.ts";
import type { StreamAppend } from "./streams.ts";

export function checkBatch({ entries, streams = [] }: AppendBatch): void {
  checkEntries(entries);
  checkAppends(streams);
  for (const append of streams) checkEntries(append.entries);
}

export function checkEntries(entries: readonly string[]): void {
  const index = entries.findIndex(hasNewline);
  if (index < 0) return;
  throw new RollcallError("INVALID_ARGUMENT", `entry ${index} of the append has a raw newline`);
}

/** Counts the bytes only of what may be too large. */
export function checkSize({ entries, streams = [] }: AppendBatch, appendBytes: number): void {
  const texts = [entries, ...streams.map((append) => append.entries)];
  const total = (sizeOf: (entry: string) => number) =>
    texts.reduce((sum, each) => each.reduce((size, entry) => size + sizeOf(entry), sum), 0);
  if (total(({ length }) => length) * MOST_BYTES <= appendBytes) return;
  checkBytes(
    total((entry) => Buffer.byteLength(entry)),
    appendBytes,
  );
}

/** Of one UTF-16 code unit as UTF-8. */
const MOST_BYTES = 3;

export function checkBytes(bytes: number, appendBytes: number): void {
  if (bytes <= appendBytes) return;
  const message = `an append of ${bytes} bytes is above the ${appendBytes} that this log takes`;
  throw new RollcallError("LIMIT_EXCEEDED", message);
}

function hasNewline(entry: string): boolean {
  return entry.includes("\n");
}

/**
 * Entries as one text. A raw newline is looked for in the whole, which costs less than to look at
 * each: most entries were put together of parts, and are copied only once this way.
 */
export function joinEntries(entries: readonly string[]): string {
  const text = entries.join("\n");
  let newlines = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) newlines += 1;
  if (newlines >= entries.length) checkEntries(entries);
  return text;
}

/** Names are kept as text that ends at a zero character, hence none inside. */
export function checkStream(stream: string): void {
  if (stream === "" || stream.includes("\0")) {
    const message = `${JSON.stringify(stream)} is not a stream name: it is empty or has a NUL`;
    throw new RollcallError("INVALID_ARGUMENT", message);
  }
}

/** The names in an append to several streams, before any of it is written. */
export function checkAppends(appends: readonly StreamAppend[]): void {
  const named = new Set<string>();
  for (const { stream, entries } of appends) {
    checkStream(stream);
    if (entries.length === 0 || named.has(stream)) {
      const problem = entries.length === 0 ? "has no entry" : "is named twice";
      throw new RollcallError("INVALID_ARGUMENT", `stream ${stream} of the append ${problem}`);
    }
    named.add(stream);
  }
}

/** Why an append is refused, when it is: something was written that its author has not seen. */
export function fenced(what: string, head: number, expectedHead: number): RollcallError {
  return new RollcallError("FENCED", `the head of ${what} is ${head}, not ${expectedHead}`);
}

/** The same for the position of a log. */
export function fenceAt(found: LogPosition, at: LogPosition): RollcallError | undefined {
  if (found.head !== at.head) return fenced("the log", found.head, at.head);
  if (found.mark === at.mark) return undefined;
  const message = `the log was signed up to mark ${found.mark}, not ${at.mark}`;
  return new RollcallError("FENCED", message);
}

/**
 * Whether the log is the one that was read before: `found` is the append that wrote the entry
 * `after`, undefined when there is no such entry.
 */
export function checkChain(after: number, afterId: string, found: string | undefined): void {
  if (found === afterId || found === "" || afterId === "") return;
  const what =
    found === undefined ? "is not there" : `was written by append ${found}, not ${afterId}`;
  const message = `entry ${after} of the log ${what}: this is not the log that was read before`;
  throw new RollcallError("DIVERGED", message);
}

/** Why an append to streams is fenced, when it is. */
export function fenceOf(
  appends: readonly StreamAppend[],
  headOf: (stream: string) => number,
): RollcallError | undefined {
  for (const { stream, expectedHead } of appends) {
    if (expectedHead === undefined || expectedHead === headOf(stream)) continue;
    return fenced(`stream ${stream}`, headOf(stream), expectedHead);
  }
  return undefined;
}

/** Why a read from `after` cannot be served, when it cannot. */
export function checkReach(what: string, after: number, oldest: number): void {
  if (after + 1 < oldest) {
    throw new RollcallError(
      "OUT_OF_RANGE",
      `${what} begins at ${oldest}: the entries after ${after} were truncated`,
    );
  }
}
