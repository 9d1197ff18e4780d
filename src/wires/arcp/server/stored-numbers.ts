/**
 * The numbers of a session's frames as its stream on disk has them, read once at the start of a
 * term: where they begin and end, and how far the session has heard each job that it follows.
 */
import { decodeSessionEntry, isNotice, lastSeqOf } from "../../../core/job-stream.ts";
import type { SessionEntry } from "../../../core/sessions.ts";
import type { NamedRange, Streams } from "../../../log/streams.ts";

export interface StoredNumbers {
  readonly oldest: number;
  readonly seq: number;
  readonly spans: number;
  /** The last position heard of each job that it follows. */
  readonly heard: ReadonlyMap<string, number>;
}

export async function storedNumbers(
  streams: Streams,
  { stream, oldest, head }: NamedRange,
  { subscriptions }: Pick<SessionEntry, "subscriptions">,
): Promise<StoredNumbers> {
  const heard = new Map<string, number>();
  let first = 1;
  let seq = 0;
  // Only a session that follows jobs has to look at all of its numbers.
  const places = subscriptions.size > 0 ? [oldest - 1] : [oldest - 1, head - 1];
  for (const place of new Set(places)) {
    for await (const batch of streams.read(stream, place)) {
      for (const [index, text] of batch.entries.entries()) {
        const read = decodeSessionEntry(text);
        if (batch.first + index === oldest) first = read.seq;
        seq = lastSeqOf(read);
        const isNew = seq > (subscriptions.get(read.jobId)?.seq ?? 0);
        if (isNew && !isNotice(read)) heard.set(read.jobId, read.last);
        if (place !== places.at(-1)) break;
      }
      if (place !== places.at(-1)) break;
    }
  }
  return { oldest: first, seq, spans: head, heard };
}
