/** `rollcall restore`: the state of a backup, put in an empty place. */
import { dirname, join, resolve } from "node:path";
import { buildCommand } from "@stricli/core";
import { invalidArgument, RollcallError } from "../../core/errors.ts";
import { fenceOf } from "../../core/fencing.ts";
import { rules } from "../../core/rules.ts";
import type { State } from "../../core/state.ts";
import { statusOf, type Token } from "../../core/tokens.ts";
import { fillingOf } from "../../daemon/copies.ts";
import type { SharedConfig } from "../../daemon/state-config.ts";
import { releaseVersion } from "../../daemon/version.ts";
import { restoreCopy } from "../../engine/copies.ts";
import { load } from "../../engine/replica.ts";
import type { OnCopyProgress } from "../../log/copy.ts";
import { beginRestore, floorAfter, type Restoring } from "../../log/sqlite/upkeep.ts";
import { makeFolder } from "../../machine/folders.ts";
import type { Context } from "../context.ts";
import { logFlags, stateOf, withProgress, type LogFlags } from "../database.ts";
import { printFacts } from "../print.ts";
import { argument, switchFlag } from "../flags.ts";
import { about } from "../help.ts";
import { clean } from "../terminal/clean.ts";
import { confirm } from "../terminal/prompt.ts";
import { momentText } from "../terminal/time.ts";

type Flags = LogFlags & { readonly yes?: boolean };

export const restore = buildCommand<Flags, [string], Context>({
  docs: about(
    "Put the state of a backup where the daemon keeps its own, which must be empty: stop the\n" +
      "daemon and move rollcall.db away first, and leave rollcall.db.witness where it is.\n" +
      "What happened since the backup is lost. Fencing tokens and terms go on above all that\n" +
      "can have been handed out since. Bearer tokens that were revoked since would be good\n" +
      "again: those that are in the backup are listed, and you are asked.\n" +
      "With --log postgres://… it goes into an empty schema of a database, with --log nats://…\n" +
      "into streams that are not there yet, as another log: a member that belonged to the old\n" +
      "one is started with --accept-loss once.",
    { call: "rollcall restore rollcall.backup", does: "asks first" },
    { call: "rollcall restore rollcall.backup --data-dir DIR", does: "to look at it elsewhere" },
    { call: "rollcall restore rollcall.backup --yes", does: "in a script" },
    { call: "rollcall restore rollcall.backup --log postgres://me@db/x", does: "a cluster" },
  ),
  parameters: {
    flags: { ...logFlags, yes: switchFlag("Do not ask") },
    positional: { kind: "tuple", parameters: [argument("FILE", "Made by rollcall backup")] },
  },
  async func({ yes = false, ...flags }, name) {
    const file = resolve(name);
    const { log, dataDir } = await stateOf(this, flags);
    if (log.kind === "sqlite") return intoFile(this, { file, yes, path: log.path });
    if (log.kind === "memory" || dataDir === undefined) {
      throw invalidArgument("the daemon keeps its state in memory: there is no place for a backup");
    }
    await intoLog(this, { file, yes, path: join(dataDir, "restoring.db") }, log);
  },
});

interface Request {
  /** The backup. */
  readonly file: string;
  readonly yes: boolean;
  /** Where its database goes. */
  readonly path: string;
}

async function intoFile(context: Context, { file, yes, path }: Request): Promise<void> {
  makeFolder(dirname(path), 0o700);
  const restoring = beginRestore(file, path);
  let state: State;
  try {
    state = await agreed(context, restoring, yes);
  } catch (error) {
    await restoring.abandon();
    throw error;
  }
  await restoring.commit(fenceOf(state));
  await printFacts(context, [
    ["restored", path],
    ["events", `up to ${restoring.facts.head}`],
    ["next", "rollcall up"],
  ]);
}

/** The database of the backup is only read here, and copied. */
async function intoLog(
  context: Context,
  { file, yes, path }: Request,
  log: SharedConfig,
): Promise<void> {
  makeFolder(dirname(path), 0o700);
  const filling = fillingOf(log, `rollcall ${releaseVersion()}`);
  const restoring = beginRestore(file, path);
  const { facts, store: from } = restoring;
  const { store: to } = filling;
  try {
    const { logId } = await to.log.open();
    const floor = floorAfter(facts, {
      fence: fenceOf(await agreed(context, restoring, yes)),
      known: 0,
    });
    await withProgress(context, (show) => {
      const onProgress: OnCopyProgress = ({ what, events, of }) =>
        show(`${what} ${events} of ${of} events`);
      return restoreCopy({ from, to, onProgress }, floor);
    });
    await filling.commit();
    await printFacts(context, [
      ["restored", to.description],
      ["log", `${logId}, from a backup of ${facts.logId}`],
      ["events", `up to ${facts.head}`],
      ["next", `rollcall up --log ${log.url}, with --accept-loss where cluster.json is kept`],
    ]);
  } catch (error) {
    await filling.abandon();
    throw error;
  } finally {
    await restoring.abandon();
  }
}

/** The state of the backup, once the person wants it. */
async function agreed(
  context: Context,
  { facts, store }: Pick<Restoring, "facts" | "store">,
  yes: boolean,
): Promise<State> {
  const { state } = await load(store.log, rules);
  const nowMs = Date.now();
  const tokens = Array.from(state.tokens.byName.values(), ({ token }) => token);
  const { err } = context;
  await err.line(`A backup of ${momentText(facts.madeAtMs, nowMs)}, by ${clean(facts.madeBy)}.`);
  await tellTokens(
    context,
    tokens.filter((token) => statusOf(token, nowMs) === "live"),
  );
  if (yes) return state;
  if (!process.stdin.isTTY) {
    throw invalidArgument("there is no terminal to ask at: give --yes");
  }
  if (await confirm(context, "Restore it?")) return state;
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
