/** `rollcall compact`: gives the room back that the database no longer needs. */
import { buildCommand } from "@stricli/core";
import { compact as compactFile } from "../../log/sqlite/upkeep.ts";
import type { Context } from "../context.ts";
import { databaseFlags, databaseOf, sizeText, type DatabaseFlags } from "../database.ts";
import { printFacts } from "../print.ts";
import { about } from "../help.ts";

export const compact = buildCommand<DatabaseFlags, [], Context>({
  docs: about(
    "Write the database anew, without the room that forgotten things left in it. A daemon uses\n" +
      "that room again by itself; this is for a disk that is nearly full. The daemon must be\n" +
      "stopped, and the disk needs as much free room as the state takes.",
    { call: "rollcall compact", does: "of the daemon that `rollcall up` would start" },
  ),
  parameters: { flags: databaseFlags },
  async func(flags) {
    const path = await databaseOf(this, flags);
    const { before, after } = await compactFile(path);
    await printFacts(this, [
      ["database", path],
      ["before", sizeText(before)],
      ["now", sizeText(after)],
    ]);
  },
});
