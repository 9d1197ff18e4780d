/**
 * A commit on its way to the thread of SQLite. It may hold thousands of small texts, and each of
 * them crosses as an object of its own would: so all of them go as one text, and their numbers
 * beside it.
 */
import type { StreamAppend } from "../streams.ts";
import type { Append, Commit, Forget } from "./protocol.ts";

export interface PackedCommit {
  /** All entries, of the log and of streams, in order; an entry has no newline. */
  readonly entries: string;
  /** The names of all streams, in order; a name has no zero character. */
  readonly names: string;
  readonly appends: readonly PackedAppend[];
  readonly forgets: readonly Forget[];
}

interface PackedAppend {
  readonly entries: number;
  /** How many entries each stream gets. */
  readonly streams: readonly number[];
  /** The heads that streams must have; empty where none is asked for. */
  readonly streamHeads: readonly (number | undefined)[];
  readonly expectedHead: number | undefined;
}

export function packCommit({ appends, forgets }: Commit): PackedCommit {
  const entries: string[] = [];
  const names: string[] = [];
  const packed = appends.map(({ batch, expectedHead }): PackedAppend => {
    const streams = batch.streams ?? [];
    for (const entry of batch.entries) entries.push(entry);
    for (const append of streams) {
      names.push(append.stream);
      for (const entry of append.entries) entries.push(entry);
    }
    const isFenced = streams.some((append) => append.expectedHead !== undefined);
    return {
      entries: batch.entries.length,
      streams: streams.map((append) => append.entries.length),
      streamHeads: isFenced ? streams.map((append) => append.expectedHead) : [],
      expectedHead,
    };
  });
  return { entries: entries.join("\n"), names: names.join("\0"), appends: packed, forgets };
}

export function unpackCommit({ entries, names, appends, forgets }: PackedCommit): Commit {
  const texts = entries.split("\n");
  const streams = names.split("\0");
  let text = 0;
  let stream = 0;
  const next = (count: number) => texts.slice(text, (text += count));
  const unpacked = appends.map((append): Append => {
    const logged = next(append.entries);
    const appended = append.streams.map((count, i): StreamAppend => {
      const expectedHead = append.streamHeads[i];
      const name = streams[stream] ?? "";
      stream += 1;
      const given = { stream: name, entries: next(count) };
      return expectedHead === undefined ? given : { ...given, expectedHead };
    });
    return {
      batch: { entries: logged, streams: appended },
      expectedHead: append.expectedHead,
    };
  });
  return { appends: unpacked, forgets };
}
