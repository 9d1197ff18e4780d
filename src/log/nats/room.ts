/**
 * Whether the servers take messages and batches as large as a log needs them. Their defaults are
 * 1 MB and 1,000 messages: too little for a large task, and for the end of all jobs of a member
 * that was lost.
 */
import { randomUUID } from "node:crypto";
import { RollcallError } from "../../core/errors.ts";
import { LOG } from "../../core/limits.ts";
import { answerOf, type Connection } from "./driver.ts";
import { Refused, TOO_LARGE_BATCH } from "./failure.ts";
import { NATS } from "./limits.ts";
import type { Names } from "./names.ts";

/** The bytes that one append may have. */
export function roomFor(connection: Connection, place: string): number {
  const { maxPayload } = connection.facts;
  if (maxPayload >= NATS.leastPayload) {
    return Math.min(LOG.sharedAppendBytes, maxPayload) - NATS.headerBytes;
  }
  throw new RollcallError(
    "WRONG_STATE",
    `NATS at ${place} takes messages of ${maxPayload} bytes at most, and tasks may be larger: ` +
      "set max_payload: 8MB on all servers",
  );
}

/**
 * What is wrong with the batches that they take, if anything. Nobody tells a client; but a batch
 * that begins with a message far behind its beginning is refused either as too large or as
 * incomplete, and nothing is written.
 */
export async function batchProblem(connection: Connection, names: Names): Promise<string> {
  const headers = {
    "Nats-Batch-Id": randomUUID(),
    "Nats-Batch-Sequence": String(NATS.wantedBatch),
  };
  const probe = { subject: names.sign, body: "", headers };
  try {
    answerOf((await connection.request(probe, NATS.answerMs)).data);
    return "";
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.code !== TOO_LARGE_BATCH) return "";
    return (
      `an append that writes to very many streams is refused (${error.message}): set ` +
      `limits { batch { max_msgs: ${NATS.wantedBatch} } } in jetstream {} on all servers`
    );
  }
}
