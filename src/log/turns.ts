/**
 * Decides which appends go to the server together. Appends wait in one queue, so that those to a
 * stream are written in the order of the calls. Of the front of the queue
 *
 * - an append of the log goes alone;
 * - appends to streams alone go together, as one append to all of these streams, as long as one
 *   write can check every head that is expected: the first one to a stream names it, or those
 *   after it expect what follows from it;
 * - trimming and removing go together while they name different streams.
 */
import { LOG } from "../core/limits.ts";
import { WRITER } from "./limits.ts";
import type { AppendBatch, AppendOptions, LogPosition } from "./log.ts";
import type { StreamAppend } from "./streams.ts";

interface Call<Result> {
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

export interface LogCall extends Call<LogPosition> {
  readonly kind: "log";
  readonly batch: AppendBatch;
  readonly at: LogPosition;
  readonly options: AppendOptions;
}

/** To streams alone; gives the new head of each. */
export interface StreamsCall extends Call<readonly number[]> {
  readonly kind: "streams";
  readonly appends: readonly StreamAppend[];
  readonly bytes: number;
}

export interface ForgetCall extends Call<void> {
  readonly kind: "forget";
  readonly streams: readonly string[];
  /** Absent: they are removed. */
  readonly through: number | undefined;
}

export type WriteCall = LogCall | StreamsCall | ForgetCall;

/** Calls that go together, of one kind. */
export type AppendTurn =
  | { readonly kind: "log"; readonly calls: readonly LogCall[] }
  | { readonly kind: "streams"; readonly calls: readonly StreamsCall[] }
  | { readonly kind: "forget"; readonly calls: readonly ForgetCall[] };

/** Takes from the front of the queue; nothing when it is empty. */
export function takeTurn(queue: WriteCall[]): AppendTurn | undefined {
  const [first] = queue;
  switch (first?.kind) {
    case undefined:
      return undefined;
    case "log":
      queue.shift();
      return { kind: "log", calls: [first] };
    case "streams": {
      const calls = leading(queue, (call) => call.kind === "streams");
      return { kind: "streams", calls: taken(queue, calls, countStreams(calls)) };
    }
    case "forget": {
      const calls = leading(queue, (call) => call.kind === "forget");
      return { kind: "forget", calls: taken(queue, calls, countForgets(calls)) };
    }
  }
}

/** The first calls, as far as they are of one kind. */
function leading<Kind extends WriteCall>(
  queue: readonly WriteCall[],
  isOfKind: (call: WriteCall) => call is Kind,
): readonly Kind[] {
  const calls: Kind[] = [];
  for (const call of queue) {
    if (!isOfKind(call)) break;
    calls.push(call);
  }
  return calls;
}

function taken<Kind extends WriteCall>(
  queue: WriteCall[],
  calls: readonly Kind[],
  count: number,
): readonly Kind[] {
  queue.splice(0, count);
  return calls.slice(0, count);
}

function countStreams(calls: readonly StreamsCall[]): number {
  const heads = new Map<string, number | undefined>();
  let bytes = 0;
  const end = calls.findIndex((call) => {
    bytes += call.bytes;
    const isTold = call.appends.every(({ stream, entries, expectedHead }) => {
      const head = heads.get(stream);
      const isFirst = !heads.has(stream);
      const known = isFirst ? expectedHead : head;
      heads.set(stream, known === undefined ? undefined : known + entries.length);
      return isFirst || expectedHead === undefined || expectedHead === head;
    });
    return !isTold || bytes > LOG.sharedAppendBytes;
  });
  return end < 0 ? calls.length : Math.max(1, end);
}

function countForgets(calls: readonly ForgetCall[]): number {
  const named = new Set<string>();
  let streams = 0;
  const end = calls.findIndex((call) => {
    const isNew = call.streams.every((stream) => !named.has(stream));
    for (const stream of call.streams) named.add(stream);
    streams += call.streams.length;
    return !isNew || streams > WRITER.forgetStreams;
  });
  return end < 0 ? calls.length : Math.max(1, end);
}

/** The appends of several calls as one to each stream. */
export function joined(calls: readonly StreamsCall[]): readonly StreamAppend[] {
  const byStream = new Map<string, { expectedHead: number | undefined; entries: string[] }>();
  for (const { stream, entries, expectedHead } of calls.flatMap(({ appends }) => appends)) {
    const before = byStream.get(stream) ?? { expectedHead, entries: [] };
    for (const entry of entries) before.entries.push(entry);
    byStream.set(stream, before);
  }
  return Array.from(byStream, ([stream, { entries, expectedHead }]) => ({
    stream,
    entries,
    ...(expectedHead !== undefined && { expectedHead }),
  }));
}

/** The heads that each call would have seen alone, of those after all of them. */
export function headsOf(
  calls: readonly StreamsCall[],
  parts: readonly StreamAppend[],
  heads: readonly number[],
): readonly (readonly number[])[] {
  const at = new Map(
    parts.map(({ stream, entries }, index) => [stream, (heads[index] ?? 0) - entries.length]),
  );
  return calls.map(({ appends }) =>
    appends.map(({ stream, entries }) => {
      const head = (at.get(stream) ?? 0) + entries.length;
      at.set(stream, head);
      return head;
    }),
  );
}

/** The streams that a call writes to, or forgets something of. */
export function streamsOf(call: WriteCall): readonly string[] {
  switch (call.kind) {
    case "log":
      return (call.batch.streams ?? []).map(({ stream }) => stream);
    case "streams":
      return call.appends.map(({ stream }) => stream);
    case "forget":
      return call.streams;
  }
}
