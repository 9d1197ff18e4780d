/**
 * Opens a file of a program before schema 2: its ledger (see records.ts) is read once and turned
 * into streams and events, before the engine sees any of it.
 *
 *   frames ──▶ streams ──▶ records ──▶ events ──▶ the frames are removed ──▶ the ledger is removed
 *
 * It may be cut off at any moment, by a kill or a full disk, and goes on at the next start. What it
 * wrote says how far it got: the last number of each session, and what the state has. Nothing else
 * is written to the file while the ledger is there.
 */
import { rules } from "../../../core/rules.ts";
import { load } from "../../../engine/replica.ts";
import type { Store } from "../../../log/store.ts";
import type { Streams } from "../../../log/streams.ts";
import { RecordImport } from "./events.ts";
import { FRAME_STREAMS } from "./frames.ts";
import { LEDGER_STREAM, readLedger } from "./records.ts";
import { FrameImport } from "./streams.ts";

export interface ImportOptions {
  /** The node that runs the jobs from now on. */
  readonly node: string;
  /** There is a ledger, and its import begins. */
  readonly onImport?: ((found: LedgerSize) => void) | undefined;
}

export interface LedgerSize {
  readonly jobs: number;
  readonly sessions: number;
}

/** Opens the log. Resolves when the engine may have it: at once where there is no ledger. */
export async function importLedger(store: Store, options: ImportOptions): Promise<void> {
  const { log, streams } = store;
  await log.open();
  const ledger = await readLedger(streams);
  if (!ledger) return;
  options.onImport?.({ jobs: ledger.jobs.size, sessions: ledger.sessions.size });
  const frames = new FrameImport(streams, ledger.jobs);
  for (const sessionId of ledger.sessions.keys()) await frames.take(sessionId);
  await frames.write();
  const replica = await load(log, rules);
  await new RecordImport(store, ledger, { node: options.node, replica }).run();
  await removeAll(streams, FRAME_STREAMS);
  await streams.remove(LEDGER_STREAM);
}

/** Streams that are removed with one sync. */
const REMOVED = 256;

async function removeAll(streams: Streams, prefix: string): Promise<void> {
  let removing: Promise<void>[] = [];
  for await (const { stream } of streams.ranges(prefix)) {
    removing.push(streams.remove(stream));
    if (removing.length < REMOVED) continue;
    await Promise.all(removing);
    removing = [];
  }
  await Promise.all(removing);
}
