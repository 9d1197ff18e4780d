/** `rollcall migrate`: a log, moved from the store that holds it to another. */
import { buildCommand } from "@stricli/core";
import { invalidArgument } from "../../core/errors.ts";
import { fillingOf, heldBy } from "../../daemon/copies.ts";
import { leavingLog, type LeavingLog } from "../../daemon/departure.ts";
import type { KeptConfig } from "../../daemon/state-config.ts";
import { releaseVersion } from "../../daemon/version.ts";
import { moveCopy } from "../../engine/copies.ts";
import type { LogRange } from "../../log/log.ts";
import type { Context } from "../context.ts";
import { databaseFlags, stateOf, storeFlags, withProgress } from "../database.ts";
import type { DatabaseFlags } from "../database.ts";
import { jsonFlag, textFlag } from "../flags.ts";
import { about } from "../help.ts";
import { note, printFacts, printJson } from "../print.ts";

interface Flags extends DatabaseFlags {
  readonly log?: string;
  readonly to?: string;
  readonly logDurability?: string;
  readonly logCredentialsFile?: string;
  readonly natsMonitor?: string;
  readonly natsReplicas?: string;
  readonly json?: boolean;
}

export const migrate = buildCommand<Flags, [], Context>({
  docs: about(
    "Move the log from the store that holds it to another, of any kind. Stop the daemon first,\n" +
      "or all members. Everything is copied, with its sequences, read back and compared, and\n" +
      "the state that both make is compared. Then the old log is marked: no daemon opens it\n" +
      "again, and each says where the log is now. Cut off half-way, it is run once more. The\n" +
      "old log is the one of the config file, or --log; other settings are of the new one.",
    { call: "rollcall migrate --to postgres://me@db/rollcall", does: "into the schema rollcall" },
    { call: "rollcall migrate --to postgres://db/x?schema=fleet", does: "into another schema" },
    { call: "rollcall migrate --to nats://a,b,c/fleet", does: "into NATS" },
    { call: "rollcall migrate --log nats://a/fleet --to sqlite:r.db", does: "out of it again" },
  ),
  parameters: {
    flags: {
      ...databaseFlags,
      log: textFlag("URL", "Where the log is, if not as the config file says"),
      to: textFlag("URL", "Where it goes: postgres://…, nats://… or sqlite:FILE"),
      ...storeFlags,
      json: jsonFlag,
    },
  },
  async func({ to: url, json, config, dataDir, log: from, ...flags }) {
    if (url === undefined) throw invalidArgument("--to is missing: say where the log goes");
    const { log: source } = await stateOf(this, { config, dataDir, log: from });
    const { log: target } = await stateOf(this, { ...flags, log: url });
    if (target.kind === "memory") {
      const mend = "give --to postgres://…, nats://… or sqlite:FILE";
      throw invalidArgument(`${url} keeps nothing: ${mend}`);
    }
    const writtenBy = `rollcall ${releaseVersion()}`;
    const startedMs = performance.now();
    const leaving = await leavingLog(source, writtenBy);
    try {
      const fingerprint = await moved(this, { leaving, target, writtenBy });
      await leaving.markMoved(url);
      const seconds = Math.round(performance.now() - startedMs) / 1000;
      const { head, logId } = leaving.range;
      const answer = { from: leaving.place, to: url, logId, head, seconds, fingerprint };
      if (json) return await printJson(this, answer);
      await printFacts(this, [
        ["moved", leaving.place],
        ["to", url],
        ["events", `up to ${head}, in ${seconds} s`],
        ["fingerprint", fingerprint ?? "compared when it was copied"],
        ["next", `rollcall up --log ${url}`],
      ]);
    } finally {
      await leaving.store.close();
    }
  },
});

interface Move {
  readonly leaving: LeavingLog;
  readonly target: KeptConfig;
  readonly writtenBy: string;
}

/** The fingerprint of the state; none where an earlier run had copied all of it. */
async function moved(
  context: Context,
  { leaving, target, writtenBy }: Move,
): Promise<string | undefined> {
  const { range, store: from } = leaving;
  if (isCopyOf(range, await heldBy(target))) {
    await note(context, "the log was copied before: only the old one is marked");
    return undefined;
  }
  const filling = fillingOf(target, writtenBy, range.logId);
  try {
    const { store: to } = filling;
    const fingerprint = await withProgress(context, (show) =>
      moveCopy({
        from,
        to,
        onProgress: ({ what, events, of }) => show(`${what} ${events} of ${of} events`),
      }),
    );
    await filling.commit();
    return fingerprint;
  } catch (error) {
    await filling.abandon();
    throw error;
  }
}

/** A file has an id of its own; that of the last append tells whose copy it is. */
function isCopyOf({ logId, head, lastId }: LogRange, held: LogRange | undefined): boolean {
  if (!held) return false;
  if (held.logId === logId) return held.head >= head;
  return held.head === head && held.lastId === lastId && lastId !== "";
}
