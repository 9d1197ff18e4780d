/**
 * Where in JetStream an entry stands. Messages know the head up to them, so the one that holds an
 * entry is found by halving, a dozen requests at most; a reader that goes on where others read
 * finds it among the spots that are remembered.
 */
import type { NatsSession } from "./session.ts";
import { storedOf, type StoredMessage } from "./stored.ts";

/** A subject from its first message to its last one. */
export interface Range {
  readonly subject: string;
  /** The last message, as the leader has it. */
  readonly last: StoredMessage;
  /** Nothing before it is looked at. */
  readonly from?: number;
}

/** The first message with a head at or above `position`; nothing when it is gone. */
export async function locate(
  session: NatsSession,
  { subject, last, from = 1 }: Range,
  position: number,
): Promise<StoredMessage | undefined> {
  const headOf = (message: StoredMessage) => (message.life === last.life ? message.head : -1);
  let best: StoredMessage | undefined;
  let low = from;
  let high = last.sequence;
  for (let probe = from; low <= high; probe = Math.floor((low + high) / 2)) {
    const message = await nextOf(session, subject, probe);
    if (!message || message.sequence > last.sequence) {
      high = probe - 1;
    } else if (headOf(message) < position) {
      low = message.sequence + 1;
    } else {
      best = message;
      high = probe - 1;
    }
  }
  return best;
}

/** By any server; by the leader, where that one lags. */
async function nextOf(
  session: NatsSession,
  subject: string,
  sequence: number,
): Promise<StoredMessage | undefined> {
  const request = { seq: sequence, next_by_subj: subject, batch: 1 };
  const [message] = await session.direct(session.names.stream, request);
  if (message?.status === 0) return storedOf(message);
  return session.nextOf(subject, sequence);
}

/** Messages of a subject, up to the last one: at least one of them, unless it is gone. */
export async function pageOf(
  session: NatsSession,
  { subject, last }: Range,
  from: number,
): Promise<readonly StoredMessage[]> {
  if (from > last.sequence) return [];
  const page = await session.page(subject, from);
  const messages = page.filter(
    ({ sequence, life }) => sequence <= last.sequence && life === last.life,
  );
  if (messages.length > 0) return messages;
  const next = await session.nextOf(subject, from);
  return next && next.sequence <= last.sequence && next.life === last.life ? [next] : [];
}
