/**
 * What a log holds at one moment, for a backup, while members go on: no message after a sequence of
 * JetStream that stands between two appends.
 *
 *   … append 7 │ its streams │ other streams ▏ append 8 │ …
 *                                    the moment
 *
 * The server keeps no old state. So of what members forget after the moment nothing is seen:
 * entries of streams that were trimmed since count as trimmed, streams that were removed are not
 * there, and a reader of entries that are truncated under it is told OUT_OF_RANGE.
 */
import { waited } from "../retry.ts";
import { damaged } from "./failure.ts";
import { infoOf, PURGED } from "./layout.ts";
import { NATS } from "./limits.ts";
import { pageOf } from "./locate.ts";
import { newestMeta, type Meta } from "./meta.ts";
import type { NatsSession } from "./session.ts";
import { endOf, firstOf, type LogEnd, type StoredMessage } from "./stored.ts";

export interface Moment {
  readonly end: LogEnd;
  readonly meta: Meta;
  /** The last sequence of JetStream that belongs to it. */
  readonly upTo: number;
}

export async function momentOf(session: NatsSession): Promise<Moment> {
  // First, so that all snapshots that it names are of entries up to the end.
  const { meta } = await newestMeta(session);
  const message = await session.lastOf(session.names.log);
  if (!message) throw damaged(session.place, PURGED);
  return { end: endOf(message), meta, upTo: await endAfter(session, message) };
}

/** The last sequence before the append that follows this one, or the last there is. */
async function endAfter(session: NatsSession, { sequence }: StoredMessage): Promise<number> {
  for (;;) {
    const info = await session.run((connection) => infoOf(connection, session.names.stream));
    const next = await session.nextOf(session.names.log, sequence + 1);
    if (next) return next.sequence - 1;
    const last = info?.state.last_seq ?? sequence;
    // It may have been forgotten by now; messages that are just being written are there.
    if (!(await session.messageAt(last))?.hasMore) return last;
    await waited(NATS.busyMs, session.closing);
  }
}

/** The last message of a subject, of the moment or of now. */
export async function lastOf(
  session: NatsSession,
  subject: string,
): Promise<StoredMessage | undefined> {
  const newest = await session.lastOf(subject);
  const { upTo = Infinity } = session.moment ?? {};
  if (!newest || newest.sequence <= upTo) return newest;
  const range = { subject, last: { ...newest, sequence: upTo } };
  let found: StoredMessage | undefined;
  for (let from = 1; ; from = found.sequence + 1) {
    const last = (await pageOf(session, range, from)).at(-1);
    if (!last) break;
    found = last;
  }
  if (found) return { ...found, trimmed: Math.min(newest.trimmed, found.head) };
  const next = (await session.nextOf(subject, upTo + 1)) ?? newest;
  const head = next.count > 0 ? firstOf(next) - 1 : next.head;
  return head === 0 ? undefined : { ...next, head, count: 0, trimmed: head };
}
