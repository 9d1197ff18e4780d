/**
 * The past, from the log: the state as it was at a moment, and what happened since the log begins.
 * The log is only ever truncated at a snapshot that stays, so every moment it reaches back to can
 * be rebuilt by the very rules that made it.
 */
import { setImmediate as endOfTurn } from "node:timers/promises";
import { decode, type RecordedEvent } from "../core/events.ts";
import { RollcallError } from "../core/errors.ts";
import type { Rules } from "../core/rules.ts";
import { restore } from "../core/snapshot.ts";
import { emptyState, type State } from "../core/state.ts";
import type { Log, Snapshot } from "../log/log.ts";
import { takenAtMs } from "./snapshots.ts";

/** A few milliseconds of work: then others are served. */
const EVENTS_A_TURN = 500;
const LOOKS_A_TURN = 10_000;

export interface Past {
  readonly state: State;
  /** Of the last event that had happened. */
  readonly sequence: number;
}

export async function stateAt(log: Log, rules: Rules, atMs: number): Promise<Past> {
  const snapshot = await newestBefore(log, atMs);
  const state = snapshot ? await restore(oneATurn(snapshot.chunks)) : emptyState();
  let sequence = snapshot?.sequence ?? 0;
  try {
    for await (const { first, entries } of log.read(sequence)) {
      for (const [i, text] of entries.entries()) {
        const recorded = decode(text, first + i);
        if (recorded.atMs > atMs) return { state, sequence };
        rules.evolve(state, recorded.event, recorded.atMs);
        sequence = recorded.sequence;
        if (sequence % EVENTS_A_TURN === 0) await endOfTurn();
      }
    }
  } catch (error) {
    if (error instanceof RollcallError && error.code === "OUT_OF_RANGE") {
      throw new RollcallError("OUT_OF_RANGE", "the log begins after that moment", {
        cause: error,
      });
    }
    throw error;
  }
  return { state, sequence };
}

/** Chunks may be read ahead: without a turn between them others would wait for all at once. */
async function* oneATurn(chunks: Snapshot["chunks"]): AsyncGenerator<string> {
  for await (const chunk of chunks) {
    yield chunk;
    await endOfTurn();
  }
}

/** Everything the log still has whose text is wanted, oldest first. */
export async function* history(
  log: Log,
  isWanted: (text: string) => boolean,
): AsyncGenerator<RecordedEvent> {
  const { oldest } = await log.open();
  for await (const { first, entries } of log.read(oldest - 1)) {
    for (const [i, text] of entries.entries()) {
      if (isWanted(text)) yield decode(text, first + i);
      if ((first + i) % LOOKS_A_TURN === 0) await endOfTurn();
    }
  }
}

async function newestBefore(log: Log, atMs: number): Promise<Snapshot | undefined> {
  let snapshot = await log.loadSnapshot(Infinity);
  while (snapshot && (await takenAtMs(snapshot)) > atMs) {
    snapshot = await log.loadSnapshot(snapshot.sequence - 1);
  }
  // takenAtMs consumed the snapshot: load it anew.
  return snapshot && log.loadSnapshot(snapshot.sequence);
}
