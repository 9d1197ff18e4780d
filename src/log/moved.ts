/**
 * A log that was moved to another store is marked where it was: nobody writes there any more, and
 * whoever opens it is told where it is now.
 */
import { RollcallError } from "../core/errors.ts";
import type { LogRange } from "./log.ts";

/** A version that no program knows, as that of a log that is being filled (filling.ts). */
export const MOVED = 1_000_001;

export function movedAway(where: string, to: string): RollcallError {
  const fix = `start the daemon with --log ${to}, or set log = "${to}" in its config file`;
  return new RollcallError("WRONG_STATE", `the log in ${where} was moved to ${to}: ${fix}`);
}

export interface Departure {
  /** As it was copied. */
  readonly range: LogRange;
  /** The URL of the other store. */
  readonly to: string;
}

/** Refuses to mark a log that is no longer what was copied. */
export function wroteSince(where: string): RollcallError {
  const what = `${where} was written to after it was copied`;
  const fix = "stop all members, empty the store that it was copied to, and move it again";
  return new RollcallError("WRONG_STATE", `${what}: ${fix}`);
}
