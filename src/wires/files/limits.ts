/** The bounds of status files, each with its reason. */
import { HOUR, MIB, SECOND } from "../../core/units.ts";

export const STATUS_FILE = {
  /** A thousand times what an agent says; beyond, it is no status but a mistake or an attack. */
  bytes: 1 * MIB,
  /** With ".json", a dot before and a random ending behind it is still a file name everywhere. */
  idBytes: 230,
} as const;

export const STATUS_FOLDER = {
  /** More agents than a machine runs; a program that fills the folder does not fill the memory. */
  files: 100_000,
} as const;

export const FRESHNESS = {
  /** Three missed heartbeats. */
  staleAfterMs: 60 * SECOND,
  /** Old news stay a day, so that somebody can find out what happened. */
  pruneAfterMs: 24 * HOUR,
  /** Clocks differ a little and times are whole seconds; beyond this one of them is wrong. */
  aheadMs: 5 * SECOND,
} as const;

export const STATUS_WATCH = {
  /** An atomic write is two or three notices at once; long enough to read the file only once. */
  settleMs: 10,
  /**
   * Where the system does not tell of changes (network disks), they are found after this long. A
   * look at ten thousand files takes a tenth of a second.
   */
  rescanMs: 120 * SECOND,
  /** Where it watches nothing at all: often enough to be of use, seldom enough to cost nothing. */
  pollMs: 1 * SECOND,
  /** Files read before others get their turn: about two milliseconds. */
  filesPerTurn: 100,
} as const;

export const EMITTER = {
  /** A reader takes three in a row that are missing for silence. */
  heartbeatMs: 20 * SECOND,
} as const;
