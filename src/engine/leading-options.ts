/** The options of a term of leading, and its end. */
import type { Clock, EngineTime, Mark } from "../core/clock.ts";
import type { FailoverTimes } from "../core/limits.ts";
import type { Rules } from "../core/rules.ts";
import type { Log, LogPosition } from "../log/log.ts";
import type { Audit } from "./audit.ts";
import type { OnDurable } from "./committer.ts";
import type { Companion } from "./companion.ts";
import type { Replica } from "./replica.ts";
import type { Snapshots } from "./snapshots.ts";
import type { EngineStats } from "./stats.ts";

export interface LeadingOptions {
  readonly node: string;
  readonly instance: string;
  readonly log: Log;
  readonly rules: Rules;
  readonly replica: Replica;
  readonly clock: Clock;
  readonly time: EngineTime;
  readonly snapshots: Snapshots;
  readonly stats: EngineStats;
  /** When the append that made this node lead was begun: as the log has it, and on the clock. */
  readonly claimedAtMs: number;
  readonly proved: Mark;
  /** For appends. */
  readonly nextId: () => string;
  readonly newId: () => string;
  readonly times: FailoverTimes;
  readonly companion: Companion | undefined;
  readonly audit: Audit | undefined;
  readonly onDurable: OnDurable;
  /** From now on another node may lead: nothing may be answered as by the leader. */
  readonly onResigning: () => void;
  readonly onTrouble: (what: string, error: unknown) => void;
}

export interface TermEnd {
  /** The failure; absent where the term was drained. */
  readonly reason?: unknown;
  /** Right after its resignation: all that it decided is in the log. */
  readonly resignedAt?: LogPosition;
}

/** Events that are about to be recorded. */
export interface Recording {
  readonly nowMs: number;
  /** As the log keeps them. */
  readonly texts: readonly string[];
  readonly isOneBatch: boolean;
}
