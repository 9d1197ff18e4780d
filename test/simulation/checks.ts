/** What is checked when a life is over: one pass over everything that ever became durable. */
import { decode, type RecordedEvent } from "../../src/core/events.ts";
import { explain } from "./histories.ts";
import type { Op } from "./history.ts";
import { LogCheck } from "./log-check.ts";
import { Replay } from "./replay.ts";
import type { Durable, DurableEntry, Term } from "./sim-disk.ts";
import { checkStreams } from "./stream-check.ts";
import type { Transcript } from "./transcript.ts";
import type { Jump } from "./troubles.ts";
import { Vitality } from "./vitality.ts";
import { LOOK_AHEAD, unprovenText, Witness } from "./witness.ts";

export type Fail = (invariant: string, detail: string) => void;

/** What a node had in memory when it stood at a sequence. */
export interface Sample {
  readonly node: string;
  readonly sequence: number;
  readonly fingerprint: string;
}

export interface Run {
  readonly archive: readonly Durable[];
  readonly streams: ReadonlyMap<string, readonly DurableEntry[]>;
  readonly terms: readonly Term[];
  readonly ops: readonly Op[];
  readonly samples: readonly Sample[];
  readonly jumps: readonly Jump[];
  readonly transcript: Transcript;
  readonly fail: Fail;
}

/** Refusals that a rule may give; any other code is a fault of the program. */
const REFUSALS = [
  "ALREADY_EXISTS",
  "INVALID_ARGUMENT",
  "LEASE_SUBSET_VIOLATION",
  "LIMIT_EXCEEDED",
  "NOT_FOUND",
  "NOT_HOLDER",
  "OUT_OF_RANGE",
  "PERMISSION_DENIED",
  "WRONG_STATE",
];

export function checkRun(run: Run): void {
  const { ops, fail } = run;
  for (const { id, outcome } of ops) {
    if (outcome.kind === "refused" && !REFUSALS.includes(outcome.code)) {
      fail("clients are refused for a reason of theirs", `#${id} got ${outcome.code}`);
    }
  }
  let recorded: readonly RecordedEvent[] = [];
  try {
    recorded = run.archive.map(({ text, sequence }) => decode(text, sequence));
    checkLog(run, recorded);
    checkStreams({ ...run, recorded }, fail);
  } catch (error) {
    return fail("the log can be replayed", String(error));
  }
  for (const { about, verdict, detail } of explain(ops, run.archive, recorded)) {
    run.transcript.count("seen", verdict);
    if (verdict === "not linearizable") fail("histories are linearizable", `${about}\n  ${detail}`);
  }
}

function checkLog(run: Run, recorded: readonly RecordedEvent[]): void {
  const { archive, ops, samples, transcript, fail } = run;
  const log = new LogCheck(fail);
  const vitality = new Vitality(run);
  const witness = new Witness(ops);
  const replay = new Replay();
  const { state } = replay;
  for (let sequence = 0; ; sequence += 1) {
    witness.at(sequence, replay, recorded.slice(sequence, sequence + LOOK_AHEAD));
    for (const sample of samples) {
      if (sample.sequence !== sequence) continue;
      transcript.count("seen", "follower compared");
      if (sample.fingerprint !== replay.fingerprint) {
        fail("replaying the log gives the state", `${sample.node} at ${sequence}`);
      }
    }
    const next = recorded[sequence];
    const durable = archive[sequence];
    if (!next || !durable) break;
    log.take(next, durable.writer);
    vitality.take(next, durable);
    replay.evolve(next);
    if (archive[sequence + 1]?.step !== durable.step) log.append(state);
  }
  log.end(state, ops);
  for (const op of witness.end()) fail("the log bears every answer out", unprovenText(op));
}
