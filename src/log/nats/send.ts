/** Writing messages together, all or none, and what the leader says to that. */
import { randomUUID } from "node:crypto";
import { answerOf, type Connection, type Outgoing } from "./driver.ts";
import { isRefusal, Lost, Refused } from "./failure.ts";
import type { NatsSession } from "./session.ts";

/**
 * Gives the sequence of the first message; the others follow it. Rejects with `Refused` or
 * `NotSent` when nothing was written, with `Lost` when that is not known.
 */
export async function send(
  session: NatsSession,
  messages: readonly Outgoing[],
  timeoutMs: number,
): Promise<number> {
  return session.once(async (connection) => {
    try {
      const answer = await connection.request(batched(connection, messages), timeoutMs);
      const { seq } = answerOf(answer.data) as { readonly seq: number };
      return seq - messages.length + 1;
    } catch (error) {
      if (error instanceof Refused && !isRefusal(error)) {
        throw new Lost(error.message, { cause: error });
      }
      throw error;
    }
  });
}

/** Publishes all but the last one, which asks for the answer to all of them. */
function batched(connection: Connection, messages: readonly Outgoing[]): Outgoing {
  const last = messages.at(-1);
  if (!last) throw new Error("there is nothing to send");
  if (messages.length === 1) return last;
  const batch = randomUUID();
  const numbered = messages.map(({ headers, ...message }, index) => ({
    ...message,
    headers: {
      ...headers,
      "Nats-Batch-Id": batch,
      "Nats-Batch-Sequence": String(index + 1),
    },
  }));
  for (const message of numbered.slice(0, -1)) connection.publish(message);
  const { headers, ...rest } = numbered.at(-1) ?? last;
  return { ...rest, headers: { ...headers, "Nats-Batch-Commit": "1" } };
}

/** So that it is written only where this is the last sequence of the subject, or of several. */
export function expecting(sequence: number, subjects?: string) {
  return {
    "Nats-Expected-Last-Subject-Sequence": String(sequence),
    ...(subjects !== undefined && { "Nats-Expected-Last-Subject-Sequence-Subject": subjects }),
  };
}
