/** Appends for tests, each under an id of its own. */
import type { AppendBatch, Log, LogPosition } from "../../../src/log/log.ts";

let ids = 0;

export function newAppendId(): string {
  ids += 1;
  return `test.${ids}`;
}

/** To a log that nobody has signed: its mark is its head. */
export function appendAt(log: Log, batch: AppendBatch, head: number): Promise<LogPosition> {
  return log.append(batch, { head, mark: head }, { id: newAppendId() });
}

/** To any log, at the mark of now; at another head than that of now it is fenced. */
export async function put(log: Log, batch: AppendBatch, head: number): Promise<LogPosition> {
  const { mark } = await log.open();
  return log.append(batch, { head, mark }, { id: newAppendId() });
}
