/**
 * Whether a server keeps what it acknowledged. A log that loses an acknowledged append breaks every
 * promise above it, and the defaults of Postgres allow it in one case: a standby that replicates
 * asynchronously and is promoted when the primary dies. It was measured: 7 of 5,272 appends.
 *
 * `strict` refuses such a server, and one that does not tell; `trust` uses it and warns.
 */
import { setTimeout as delay } from "node:timers/promises";
import { RollcallError } from "../../core/errors.ts";
import type { Durability } from "../durability.ts";
import type { Connection } from "./driver.ts";
import { POSTGRES } from "./limits.ts";

interface Settings {
  readonly fsync: string;
  readonly full_page_writes: string;
  readonly synchronous_commit: string;
  readonly standby_names: string;
  readonly who: string;
  /** Names of standbys that may lack what was acknowledged. */
  readonly behind: string;
  /** Replication slots whose standby is away. */
  readonly away: string;
  /** Whether this user sees the state of standbys. */
  readonly is_told: boolean;
}

/** Subscribers of logical replication and backups can never be promoted. */
const SETTINGS = `
  SELECT current_setting('fsync') AS fsync,
    current_setting('full_page_writes') AS full_page_writes,
    current_setting('synchronous_commit') AS synchronous_commit,
    current_setting('synchronous_standby_names') AS standby_names,
    current_user AS who,
    (SELECT coalesce(string_agg(coalesce(nullif(r.application_name, ''), r.pid::text), ', '), '')
      FROM pg_stat_replication AS r
      WHERE r.sync_state = 'async' AND r.state NOT IN ('backup', 'startup') AND NOT EXISTS (
        SELECT FROM pg_replication_slots AS s
        WHERE s.active_pid = r.pid AND s.slot_type = 'logical')) AS behind,
    (SELECT coalesce(string_agg(slot_name, ', '), '') FROM pg_replication_slots
      WHERE slot_type = 'physical' AND NOT active) AS away,
    NOT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state IS NULL) AS is_told`;

/** Warns or refuses where acknowledged appends could be lost, and says the fix. */
export async function checkDurability(
  connection: Connection,
  durability: Durability,
  place: string,
): Promise<string> {
  const look = async () => {
    const [settings] = await connection.query<Settings>(SETTINGS);
    return settings ? problemsOf(settings) : ["it does not tell its settings"];
  };
  let problems = await look();
  if (problems.length > 0) {
    // A standby that has just come back is called asynchronous, until its sender knows better.
    await delay(POSTGRES.secondLookMs);
    problems = await look();
  }
  if (problems.length === 0) return "";
  const what = `Postgres at ${place} may lose what it acknowledged: ${problems.join("; ")}`;
  if (durability === "trust") return what;
  throw new RollcallError("WRONG_STATE", `${what}. Or accept that: log_durability = trust`);
}

function problemsOf(settings: Settings): string[] {
  const { fsync, full_page_writes: pages, synchronous_commit: commit } = settings;
  const { behind, away, is_told: isTold, standby_names: names, who } = settings;
  const problems: string[] = [];
  if (fsync !== "on") problems.push("fsync is off, set it on");
  if (pages !== "on") problems.push("full_page_writes is off, set it on");
  if (!["on", "remote_apply"].includes(commit)) {
    problems.push(`synchronous_commit is ${commit} for ${who}, set it on`);
  }
  if (!isTold) {
    problems.push(`${who} may not see how standbys replicate: GRANT pg_monitor TO ${who}`);
  } else if (behind !== "") {
    problems.push(`standby ${behind} replicates asynchronously: ${MEND}`);
  } else if (away !== "" && names === "") {
    problems.push(
      `the standby of slot ${away} is away and would replicate asynchronously: ${MEND}`,
    );
  }
  return problems;
}

const MEND = "name it in synchronous_standby_names, such as 'ANY 1 (*)'";
