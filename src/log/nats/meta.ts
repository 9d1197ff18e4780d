/**
 * What is known of the log beside its messages, as one small message: how far it was truncated, and
 * which snapshots there are. It is replaced whole, and only by one that has seen the last.
 */
import { NATS } from "./limits.ts";
import { isPassing, Refused, BUSY, Lost, natsError, WRONG_SEQUENCE } from "./failure.ts";
import { waited } from "../retry.ts";
import { expecting, send } from "./send.ts";
import type { NatsSession } from "./session.ts";

export interface SnapshotMeta {
  readonly sequence: number;
  /** Of the append that wrote the entry at its sequence. */
  readonly id: string;
  /** Of its pieces. */
  readonly key: string;
  readonly pieces: number;
}

export interface Meta {
  readonly oldest: number;
  readonly snapshots: readonly SnapshotMeta[];
}

interface ReadMeta {
  readonly meta: Meta;
  /** Of its message in JetStream; 0 when there is none. */
  readonly sequence: number;
}

/** Of the moment that a store shows, or of now. */
export async function readMeta(session: NatsSession): Promise<ReadMeta> {
  const { moment } = session;
  return moment ? { meta: moment.meta, sequence: 0 } : newestMeta(session);
}

export async function newestMeta(session: NatsSession): Promise<ReadMeta> {
  const message = await session.lastOf(session.names.meta);
  if (!message) return { meta: { oldest: 1, snapshots: [] }, sequence: 0 };
  const meta = JSON.parse(Buffer.from(message.data).toString()) as Meta;
  return { meta, sequence: message.sequence };
}

/** Replaces it until nobody else did so meanwhile. A change may be asked for more than once. */
export async function changeMeta(
  session: NatsSession,
  change: (meta: Meta) => Meta | Promise<Meta>,
): Promise<void> {
  const endsMs = performance.now() + NATS.readWithinMs;
  for (;;) {
    const { meta, sequence } = await readMeta(session);
    const body = JSON.stringify(await change(meta));
    const headers = { ...expecting(sequence), "Nats-Rollup": "sub" };
    try {
      await send(session, [{ subject: session.names.meta, body, headers }], NATS.answerMs);
      return;
    } catch (error) {
      const isRaced = error instanceof Refused && RACED.includes(error.code);
      const mayPass = isRaced || error instanceof Lost || isPassing(error);
      if (!mayPass || performance.now() > endsMs || session.closing.aborted) {
        throw natsError(error, session.place);
      }
      await waited(NATS.busyMs, session.closing);
    }
  }
}

const RACED = [WRONG_SEQUENCE, BUSY];
