/** `rollcall migrate`: the log of one machine, moved to a store that several can share. */
import { buildCommand } from "@stricli/core";
import { invalidArgument } from "../../core/errors.ts";
import { fillingOf, heldBy } from "../../daemon/copies.ts";
import type { SharedConfig } from "../../daemon/state-config.ts";
import { releaseVersion } from "../../daemon/version.ts";
import { moveCopy } from "../../engine/copies.ts";
import type { LogRange } from "../../log/log.ts";
import { ownFile, type OwnFile } from "../../log/sqlite/upkeep.ts";
import type { Context } from "../context.ts";
import { databaseFlags, databaseOf, stateOf, storeFlags, withProgress } from "../database.ts";
import type { DatabaseFlags } from "../database.ts";
import { jsonFlag, textFlag } from "../flags.ts";
import { about } from "../help.ts";
import { note, printFacts, printJson } from "../print.ts";

interface Flags extends DatabaseFlags {
  readonly to?: string;
  readonly logDurability?: string;
  readonly logCredentialsFile?: string;
  readonly natsMonitor?: string;
  readonly natsReplicas?: string;
  readonly json?: boolean;
}

export const migrate = buildCommand<Flags, [], Context>({
  docs: about(
    "Move the log of a daemon from its file to a store that several members share. Stop the\n" +
      "daemon first. Everything is copied, with its sequences, read back and compared, and the\n" +
      "state that both make is compared. Then the file is marked: no daemon opens it again, and\n" +
      "each says where the log is now. Cut off half-way, it is run once more.",
    { call: "rollcall migrate --to postgres://me@db/rollcall", does: "into the schema rollcall" },
    { call: "rollcall migrate --to postgres://db/x?schema=fleet", does: "into another schema" },
    { call: "rollcall migrate --to nats://a,b,c/fleet", does: "into NATS" },
  ),
  parameters: {
    flags: {
      ...databaseFlags,
      to: textFlag("URL", "Where the log goes: postgres://… or nats://…"),
      ...storeFlags,
      json: jsonFlag,
    },
  },
  async func({ to: url, json, config, dataDir, ...flags }) {
    if (url === undefined) throw invalidArgument("--to is missing: say where the log goes");
    const path = await databaseOf(this, { config, dataDir });
    const { log } = await stateOf(this, { ...flags, log: url });
    if (log.kind !== "postgres" && log.kind !== "nats") {
      const mend = "give --to postgres://… or --to nats://…";
      throw invalidArgument(`${url} is no store that members share: ${mend}`);
    }
    const writtenBy = `rollcall ${releaseVersion()}`;
    const file = ownFile(path, writtenBy);
    try {
      const startedMs = performance.now();
      const range = await file.store.log.open();
      const fingerprint = await moved(this, { file, range, log, writtenBy });
      await file.markMoved(url);
      const seconds = Math.round(performance.now() - startedMs) / 1000;
      const { head, logId } = range;
      const answer = { from: path, to: url, logId, head, seconds, fingerprint };
      if (json) return await printJson(this, answer);
      await printFacts(this, [
        ["moved", path],
        ["to", url],
        ["events", `up to ${head}, in ${seconds} s`],
        ["fingerprint", fingerprint ?? "compared when it was copied"],
        ["next", `rollcall up --log ${url}`],
      ]);
    } finally {
      await file.store.close();
    }
  },
});

interface Move {
  readonly file: OwnFile;
  readonly range: LogRange;
  readonly log: SharedConfig;
  readonly writtenBy: string;
}

/** The fingerprint of the state; none where an earlier run had copied all of it. */
async function moved(
  context: Context,
  { file, range, log, writtenBy }: Move,
): Promise<string | undefined> {
  const { logId, head } = range;
  const held = await heldBy(log);
  if (held?.logId === logId && held.head >= head) {
    await note(context, "the log was copied before: only the file is marked");
    return undefined;
  }
  const filling = fillingOf(log, writtenBy, logId);
  try {
    const { store: to } = filling;
    const fingerprint = await withProgress(context, (show) =>
      moveCopy({
        from: file.store,
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
