/** Bounds of what is read of signatures, each with its reason. */
import { KIB } from "../core/units.ts";

export const SIGNATURE = {
  /** Enough for a change of keys and a second algorithm; each costs a computation. */
  perCard: 4,
  headerLength: 4 * KIB,
  valueLength: 4 * KIB,
  /** RSA keys below are broken or soon will be. */
  leastRsaBits: 2048,
  keysInSet: 64,
  /** For which a pinned key may speak. */
  originsOfKey: 64,
} as const;
