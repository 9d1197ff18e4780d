/** `rollcall backup`: a copy of the state, taken while the daemon goes on. */
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { buildCommand } from "@stricli/core";
import { invalidArgument } from "../../core/errors.ts";
import { backUpLog } from "../../daemon/copies.ts";
import { releaseVersion } from "../../daemon/version.ts";
import type { Context } from "../context.ts";
import { logFlags, sizeText, stateOf, withProgress, type LogFlags } from "../database.ts";
import { printFacts, printJson } from "../print.ts";
import { argument, jsonFlag } from "../flags.ts";
import { about } from "../help.ts";
import { momentText } from "../terminal/time.ts";

type Flags = LogFlags & { readonly json?: boolean };

export const backup = buildCommand<Flags, [string], Context>({
  docs: about(
    "Write a backup of the state to a file: everything that was acknowledged when it began.\n" +
      "The daemon goes on meanwhile, and need not run. All of it is read and checked on the\n" +
      "way, and the file has a digest: `rollcall restore` refuses one that is damaged. It\n" +
      "contains all of the state, with its secrets: only you can read it, and keep it so. At\n" +
      "any member of a cluster it is a backup of the log that all of them share.",
    { call: "rollcall backup rollcall.backup", does: "here" },
    { call: "rollcall backup /mnt/nas/$(date +%F).backup", does: "elsewhere, by a timer" },
    { call: "rollcall up --backup-every 24 --backup-keep 7", does: "by the daemon itself" },
  ),
  parameters: {
    flags: { ...logFlags, json: jsonFlag },
    positional: { kind: "tuple", parameters: [argument("FILE", "There must be none yet")] },
  },
  async func({ json, ...flags }, file) {
    const target = resolve(file);
    const folder = dirname(target);
    if (!existsSync(folder)) throw invalidArgument(`FILE is ${target}: there is no ${folder}`);
    const { log } = await stateOf(this, flags);
    const madeBy = `rollcall ${releaseVersion()}`;
    const facts = await withProgress(this, (show) =>
      backUpLog(log, {
        target,
        madeBy,
        onProgress(done, of, unit) {
          if (unit === "bytes") show(`${sizeText(done)} of about ${sizeText(of)}`);
          else show(`${done} of ${of} events`);
        },
      }),
    );
    const { logId, head, madeAtMs, bytes, sha256 } = facts;
    if (json) return printJson(this, { file: target, logId, head, madeAtMs, bytes, sha256 });
    await printFacts(this, [
      ["backup", target],
      ["of", log.kind === "sqlite" ? log.path : `log ${logId}`],
      ["events", `up to ${head}, ${momentText(madeAtMs, Date.now())}`],
      ["size", sizeText(bytes)],
      ["SHA-256", sha256],
    ]);
  },
});
