/**
 * The numbers of a session's frames as its stream on disk has them, read once at the start of a
 * term: where they begin and end, and how far the session has heard each job that it follows.
 */
import {
  decodeSessionEntry,
  isNotice,
  lastSeqOf,
  SESSION_STREAMS,
} from "../../../core/job-stream.ts";
import type { SessionEntry } from "../../../core/sessions.ts";
import { STREAM } from "../../../jobs/limits.ts";
import type { NamedRange, Streams } from "../../../log/streams.ts";

export interface StoredNumbers {
  readonly oldest: number;
  readonly seq: number;
  readonly spans: number;
  /** The last position heard of each job that it follows. */
  readonly heard: ReadonlyMap<string, number>;
}

type FollowedJobs = Pick<SessionEntry, "subscriptions">;

async function storedNumbers(
  streams: Pick<Streams, "read">,
  { stream, oldest, head }: NamedRange,
  { subscriptions }: FollowedJobs,
): Promise<StoredNumbers> {
  const heard = new Map<string, number>();
  let first = 1;
  let seq = 0;
  // Only a session that follows jobs has to look at all of its numbers; a few cost one read less.
  const isShort = head - oldest < STREAM.readWhole;
  const places = subscriptions.size > 0 || isShort ? [oldest - 1] : [oldest - 1, head - 1];
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

export interface StoredSessions {
  readonly found: Map<string, StoredNumbers>;
  /** Ids of streams whose sessions the state does not know. */
  readonly others: readonly string[];
}

/** Of all sessions, some at once: from another machine each costs several round trips. */
export async function storedSessions(
  sessions: ReadonlyMap<string, FollowedJobs>,
  streams: Pick<Streams, "read" | "ranges">,
): Promise<StoredSessions> {
  const found = new Map<string, StoredNumbers>();
  const others: string[] = [];
  let some: { readonly id: string; readonly range: NamedRange; readonly entry: FollowedJobs }[] =
    [];
  const readSome = async () => {
    const reading = some.map(async ({ id, range, entry }) => {
      found.set(id, await storedNumbers(streams, range, entry));
    });
    some = [];
    await Promise.all(reading);
  };
  for await (const range of streams.ranges(SESSION_STREAMS)) {
    const id = range.stream.slice(SESSION_STREAMS.length);
    const entry = sessions.get(id);
    if (entry) some.push({ id, range, entry });
    else others.push(id);
    if (some.length >= STREAM.foundAtOnce) await readSome();
  }
  await readSome();
  return { found, others };
}
