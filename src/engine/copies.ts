/**
 * What follows on the copy of a whole log (log/copy.ts): a restored one begins a term of its own,
 * and one that was moved makes the very state that the old one makes.
 */
import { createHash } from "node:crypto";
import { RollcallError } from "../core/errors.ts";
import { encode } from "../core/events.ts";
import { leading, type NodeEvent } from "../core/nodes.ts";
import { rules } from "../core/rules.ts";
import { fingerprint } from "../core/snapshot.ts";
import { copyStore, type OnCopyProgress } from "../log/copy.ts";
import type { Store } from "../log/store.ts";
import { load } from "./replica.ts";

export interface StoreCopy {
  readonly from: Store;
  /** Empty. */
  readonly to: Store;
  readonly onProgress?: OnCopyProgress;
}

/** As it writes a term of its own. */
const NODE = "restore";

/**
 * Ends with a term that nobody leads any more: tokens and terms go on above the floor, everybody
 * has one full ttl, and the first member that looks may lead.
 */
export async function restoreCopy(
  { from, to, onProgress }: StoreCopy,
  floor: number,
): Promise<void> {
  const { logId } = await copyStore(from, to, onProgress);
  const { state, head, mark } = await load(to.log, rules);
  const claim = leading(state, NODE, { floor });
  const { epoch } = state.leadership;
  const term: NodeEvent[] = [claim, { type: "node.resigned", node: NODE, epoch: epoch + 1 }];
  const atMs = Math.max(Date.now(), state.lastAtMs);
  const entries = term.map((event) => encode(event, atMs));
  await to.log.append({ entries, fence: floor }, { head, mark }, { id: `restore.${logId}` });
}

/** Gives the fingerprint of the state that both make. */
export async function moveCopy({ from, to, onProgress }: StoreCopy): Promise<string> {
  const { floor: owed = 0 } = await from.log.open();
  if (owed > 0) {
    const what = `${from.description} may have lost events and no daemon has opened it since`;
    throw new RollcallError("WRONG_STATE", `${what}: run rollcall up once, then move it`);
  }
  await copyStore(from, to, onProgress);
  const before = await fingerprintOf(from);
  const after = await fingerprintOf(to);
  if (before === after) return after;
  const message = `${to.description} makes another state than ${from.description}: not moved`;
  throw new RollcallError("STORAGE_CORRUPT", message);
}

async function fingerprintOf({ log }: Store): Promise<string> {
  const { state } = await load(log, rules);
  return createHash("sha256").update(fingerprint(state)).digest("hex");
}
