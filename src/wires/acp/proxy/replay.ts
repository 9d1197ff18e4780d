/** The timeline of a recording: the same rules as live, over frames that went by long ago. */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { invalidArgument, RollcallError } from "../../../core/errors.ts";
import { parsedRecord } from "../../../core/json-object.ts";
import { AcpDeriver } from "../derive/deriver.ts";
import type { AcpFrame } from "../derive/frames.ts";
import type { AcpRecord } from "../derive/record.ts";
import { systemCode } from "../../../machine/system-error.ts";
import { field } from "../../../core/text.ts";
import type { RecordedFrame } from "./recording.ts";

export interface ReplayStep {
  readonly atMs: number;
  readonly record: AcpRecord;
}

/** Every change, of sessions and (without a session) of the agent as a whole. */
export async function* replay(path: string): AsyncGenerator<ReplayStep> {
  const deriver = new AcpDeriver();
  let number = 0;
  for await (const text of linesOf(path)) {
    number += 1;
    const recorded = recordedIn(text);
    if (!recorded) {
      throw invalidArgument(`${path} is no recording: line ${number} is not a frame`);
    }
    const { at, from, frame } = recorded;
    // Changes by silence lay in between.
    for (let due = deriver.nextDeadlineMs; due !== undefined && due < at;) {
      for (const record of deriver.tick(due)) yield { atMs: due, record };
      due = laterThan(due, deriver.nextDeadlineMs);
    }
    for (const record of deriver.observe(from, frame, at)) yield { atMs: at, record };
  }
}

function laterThan(before: number, next: number | undefined): number | undefined {
  return next !== undefined && next > before ? next : undefined;
}

async function* linesOf(path: string): AsyncGenerator<string> {
  try {
    yield* createInterface({ input: createReadStream(path), crlfDelay: Infinity });
  } catch (error) {
    const why = systemCode(error) === "ENOENT" ? "there is no such file" : systemCode(error);
    throw new RollcallError("NOT_FOUND", `${path} cannot be read: ${why}`, { cause: error });
  }
}

function recordedIn(text: string): RecordedFrame | undefined {
  const { at, from, frame } = parsedRecord(text) ?? {};
  const isSender = from === "client" || from === "agent";
  const isFrame = typeof field(frame, "kind") === "string";
  if (typeof at !== "number" || !isSender || !isFrame) return undefined;
  return { at, from, frame: frame as AcpFrame };
}
