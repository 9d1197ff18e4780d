/** `rollcall backup`: a copy of the state, taken while the daemon goes on. */
import { resolve } from "node:path";
import { buildCommand } from "@stricli/core";
import { releaseVersion } from "../../daemon/version.ts";
import { backUp } from "../../log/sqlite/upkeep.ts";
import type { Context } from "../context.ts";
import { databaseFlags, databaseOf, sizeText, type DatabaseFlags } from "../database.ts";
import { printFacts, printJson } from "../print.ts";
import { argument, jsonFlag } from "../flags.ts";
import { about } from "../help.ts";
import { momentText } from "../terminal/time.ts";

interface Flags extends DatabaseFlags {
  readonly json?: boolean;
}

export const backup = buildCommand<Flags, [string], Context>({
  docs: about(
    "Write a backup of the state to a file: everything that was acknowledged when it began.\n" +
      "The daemon goes on meanwhile, and need not run. All of it is read and checked on the\n" +
      "way, and the file has a digest: `rollcall restore` refuses one that is damaged. It holds\n" +
      "what the state holds, secrets among it: only you can read it, and keep it so.",
    { call: "rollcall backup rollcall.backup", does: "here" },
    { call: "rollcall backup /mnt/nas/$(date +%F).backup", does: "elsewhere, by a timer" },
    { call: "rollcall up --backup-every 24 --backup-keep 7", does: "by the daemon itself" },
  ),
  parameters: {
    flags: { ...databaseFlags, json: jsonFlag },
    positional: { kind: "tuple", parameters: [argument("FILE", "There must be none yet")] },
  },
  async func({ json, ...flags }, file) {
    const target = resolve(file);
    const path = await databaseOf(this, flags);
    const facts = await copied(this, path, target);
    const { logId, head, madeAtMs, bytes, sha256 } = facts;
    if (json) return printJson(this, { file: target, logId, head, madeAtMs, bytes, sha256 });
    await printFacts(this, [
      ["backup", target],
      ["of", path],
      ["events", `up to ${head}, ${momentText(madeAtMs, Date.now())}`],
      ["size", sizeText(bytes)],
      ["SHA-256", sha256],
    ]);
  },
});

async function copied(context: Context, path: string, target: string) {
  try {
    return await backUp({
      path,
      target,
      madeBy: `rollcall ${releaseVersion()}`,
      onProgress(bytes, of) {
        void progress(context, `${sizeText(bytes)} of about ${sizeText(of)}`);
      },
    });
  } finally {
    await progress(context, "");
  }
}

/** In the place of the last one. */
async function progress({ err }: Context, text: string): Promise<void> {
  if (err.isTerminal) await err.write(`\r\u001b[K${text}`);
}
