/**
 * Trimming and removing streams, apart from the truncation of the log. Trimming leaves a message
 * without entries that tells how far, as every message after it does; then the messages before are
 * purged. A stream that is purged whole is gone, and starts anew.
 */
import { randomUUID } from "node:crypto";
import { waited } from "../retry.ts";
import type { Forgotten } from "../writer.ts";
import { BUSY, isPassing, natsError, Refused, WRONG_SEQUENCE } from "./failure.ts";
import { headOf, type Heads } from "./heads.ts";
import { NATS } from "./limits.ts";
import { locate } from "./locate.ts";
import { subjectOf } from "./names.ts";
import { expecting, send } from "./send.ts";
import type { NatsSession } from "./session.ts";
import { streamHeaders, type StoredMessage } from "./stored.ts";

/** May be done twice, so it is tried until it is. */
export async function forget(
  session: NatsSession,
  heads: Heads,
  forgotten: readonly Forgotten[],
): Promise<void> {
  heads.forget(forgotten.map(({ stream }) => stream));
  const waiting = [...forgotten];
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const subject = subjectOf(session.names, next.stream);
      if (next.through === undefined) await purge(session, subject);
      else await trim(session, subject, next.through);
    }
  };
  await Promise.all(Array.from({ length: NATS.requests }, worker));
}

async function purge(session: NatsSession, filter: string, seq?: number): Promise<void> {
  const request = { filter, ...(seq !== undefined && { seq }) };
  await session.run((each) => each.call(`STREAM.PURGE.${session.names.stream}`, request));
}

async function trim(session: NatsSession, subject: string, through: number): Promise<void> {
  const endsMs = performance.now() + NATS.readWithinMs;
  for (;;) {
    const last = await session.lastOf(subject);
    const { head, trimmed } = headOf(last);
    const to = Math.min(through, head);
    if (!last || to <= trimmed) return;
    try {
      const sequence = await mark(session, last, to);
      const kept = to < head ? await locate(session, { subject, last }, to + 1) : undefined;
      return await purge(session, subject, kept?.sequence ?? sequence);
    } catch (error) {
      const isRaced = error instanceof Refused && RACED.includes(error.code);
      const isOver = performance.now() > endsMs || session.closing.aborted;
      if (isOver || !(isRaced || isPassing(error))) throw natsError(error, session.place);
      await waited(NATS.busyMs, session.closing);
    }
  }
}

const RACED = [WRONG_SEQUENCE, BUSY];

/** The message that tells how far the stream is trimmed. */
function mark(session: NatsSession, last: StoredMessage, trimmed: number): Promise<number> {
  const { head, life, subject, sequence } = last;
  const headers = {
    ...streamHeaders({ head, count: 0, id: randomUUID(), trimmed, life }),
    ...expecting(sequence),
  };
  return send(session, [{ subject, body: "", headers }], NATS.answerMs);
}
