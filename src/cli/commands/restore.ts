/** `rollcall restore`: the state of a backup, put in an empty place. */
import { dirname, resolve } from "node:path";
import { buildCommand } from "@stricli/core";
import { invalidArgument, RollcallError } from "../../core/errors.ts";
import { fenceOf } from "../../core/fencing.ts";
import { rules } from "../../core/rules.ts";
import type { State } from "../../core/state.ts";
import { statusOf, type Token } from "../../core/tokens.ts";
import { load } from "../../engine/replica.ts";
import type { BackupFacts } from "../../log/sqlite/backup.ts";
import { beginRestore } from "../../log/sqlite/upkeep.ts";
import { makeFolder } from "../../machine/folders.ts";
import type { Context } from "../context.ts";
import { databaseFlags, databaseOf, type DatabaseFlags } from "../database.ts";
import { printFacts } from "../print.ts";
import { argument, switchFlag } from "../flags.ts";
import { about } from "../help.ts";
import { clean } from "../terminal/clean.ts";
import { confirm } from "../terminal/prompt.ts";
import { momentText } from "../terminal/time.ts";

interface Flags extends DatabaseFlags {
  readonly yes?: boolean;
}

export const restore = buildCommand<Flags, [string], Context>({
  docs: about(
    "Put the state of a backup where the daemon keeps its own, which must be empty: stop the\n" +
      "daemon and move rollcall.db away first, and leave rollcall.db.witness where it is.\n" +
      "What happened since the backup is lost. Fencing tokens and terms go on above all that\n" +
      "can have been handed out since. Bearer tokens that were revoked since would be good\n" +
      "again: those that are in the backup are listed, and you are asked.",
    { call: "rollcall restore rollcall.backup", does: "asks before it does anything" },
    { call: "rollcall restore rollcall.backup --data-dir DIR", does: "to look at it elsewhere" },
    { call: "rollcall restore rollcall.backup --yes", does: "in a script" },
  ),
  parameters: {
    flags: { ...databaseFlags, yes: switchFlag("Do not ask") },
    positional: { kind: "tuple", parameters: [argument("FILE", "Made by rollcall backup")] },
  },
  async func({ yes = false, ...flags }, file) {
    const path = await databaseOf(this, flags);
    makeFolder(dirname(path), 0o700);
    const restoring = beginRestore(resolve(file), path);
    let state: State;
    try {
      ({ state } = await load(restoring.store.log, rules));
      await agreed(this, { facts: restoring.facts, state, yes });
    } catch (error) {
      await restoring.abandon();
      throw error;
    }
    await restoring.commit(fenceOf(state));
    await printFacts(this, [
      ["restored", path],
      ["events", `up to ${restoring.facts.head}`],
      ["next", "rollcall up"],
    ]);
  },
});

interface Agreement {
  readonly facts: BackupFacts;
  readonly state: State;
  readonly yes: boolean;
}

async function agreed(context: Context, { facts, state, yes }: Agreement): Promise<void> {
  const nowMs = Date.now();
  const tokens = Array.from(state.tokens.byName.values(), ({ token }) => token);
  const { err } = context;
  await err.line(`A backup of ${momentText(facts.madeAtMs, nowMs)}, by ${clean(facts.madeBy)}.`);
  await tellTokens(
    context,
    tokens.filter((token) => statusOf(token, nowMs) === "live"),
  );
  if (yes) return;
  if (!process.stdin.isTTY) {
    throw invalidArgument("there is no terminal to ask at: give --yes");
  }
  if (await confirm(context, "Restore it?")) return;
  throw new RollcallError("CANCELLED", "nothing was restored");
}

async function tellTokens({ err }: Context, tokens: readonly Token[]): Promise<void> {
  if (tokens.length === 0) return err.line("No bearer token in it is good.");
  await err.line("These bearer tokens would be good, also where they were revoked since:");
  for (const { name, role, expiresAtMs } of tokens) {
    const until = new Date(expiresAtMs).toISOString();
    await err.line(`  ${clean(name)}  ${role}, until ${until}; rollcall tokens revoke NAME`);
  }
}
