/** A store that is filled with what another one held (copy.ts), all or nothing. */
import type { Store } from "./store.ts";

export interface Filling {
  readonly store: Store;
  /** All of it is there: from now on it is a log. */
  commit(): Promise<void>;
  /** Leaves an empty log, or none. */
  abandon(): Promise<void>;
}

/**
 * A log that is being filled has a version that no program knows: nobody opens it half-way, and
 * what is left of a copy that did not come to its end is not taken for a log.
 */
export const FILLING = 1_000_000;
