/**
 * Whether a log still is the log that this node has read: acknowledged entries vanish when a backup
 * is restored, when a standby takes over that had not heard the last appends, or when an operator
 * makes the log anew. Its head may have passed the lost entries long ago; the chain of append ids
 * tells.
 *
 * At a start any of it is refused. A node that runs tells of lost entries and goes on with what is
 * left, which is all that any node has; another log in the place of this one it refuses as well.
 */
import { codeOf, RollcallError } from "../core/errors.ts";
import type { Log } from "../log/log.ts";
import type { Replica } from "./replica.ts";

/** The last that this node has seen of its log: to be kept where it outlives the process. */
export interface KnownLog {
  readonly logId: string;
  readonly head: number;
  /** The append that wrote the entry at this head. */
  readonly lastId: string;
}

export function knownOf({ logId, head, lastId }: Replica): KnownLog {
  return { logId, head, lastId };
}

/** Rejects with DIVERGED when it is another log, or has lost an entry that is known. */
export async function checkLog(log: Log, known: KnownLog): Promise<void> {
  await checkSameLog(log, known);
  if (await hasLostEntries(log, known)) throw lossOf(known);
}

/** For a node that runs; another log rejects with DIVERGED, unless losses are accepted. */
export async function hasLost(
  log: Log,
  known: KnownLog,
  { acceptLoss }: { readonly acceptLoss: boolean },
): Promise<boolean> {
  if (!acceptLoss) await checkSameLog(log, known);
  return hasLostEntries(log, known);
}

export function lossOf({ head, lastId }: KnownLog): RollcallError {
  const lost = `the log has lost entry ${head} of append ${lastId}, which this node has read`;
  return new RollcallError("DIVERGED", `${lost}: ${MEND}`);
}

const MEND = "restore a newer backup, or start with accept-loss";

async function checkSameLog(log: Log, known: KnownLog): Promise<void> {
  const { logId } = await log.open();
  // Files of older programs have no id before they are written to.
  if (known.logId === logId || known.logId === "" || logId === "") return;
  const message = `the log is ${logId}, and this node belongs to log ${known.logId}: ${MEND}`;
  throw new RollcallError("DIVERGED", message);
}

async function hasLostEntries(log: Log, known: KnownLog): Promise<boolean> {
  const { head } = await log.open();
  if (head < known.head) return true;
  try {
    for await (const _ of log.read(known.head, known.lastId)) break;
    return false;
  } catch (error) {
    if (codeOf(error) === "DIVERGED") return true;
    // Truncated since: nobody can tell any more.
    if (codeOf(error) === "OUT_OF_RANGE") return false;
    throw error;
  }
}
