/** `rollcall restore`: the state of a backup, or of a member's mirror, put in an empty place. */
import { dirname, join, resolve } from "node:path";
import { buildCommand } from "@stricli/core";
import { invalidArgument, RollcallError } from "../../core/errors.ts";
import { fenceOf } from "../../core/fencing.ts";
import { rules } from "../../core/rules.ts";
import type { State } from "../../core/state.ts";
import { statusOf, type Token } from "../../core/tokens.ts";
import { fillingOf } from "../../daemon/copies.ts";
import type { KeptConfig } from "../../daemon/state-config.ts";
import { releaseVersion } from "../../daemon/version.ts";
import { restoreCopy } from "../../engine/copies.ts";
import { load } from "../../engine/replica.ts";
import type { OnCopyProgress } from "../../log/copy.ts";
import { openMirror } from "../../log/mirror/reading.ts";
import { beginRestore, floorAfter } from "../../log/sqlite/upkeep.ts";
import type { Store } from "../../log/store.ts";
import type { Context } from "../context.ts";
import { logFlags, stateOf, withProgress, type LogFlags } from "../database.ts";
import { printFacts } from "../print.ts";
import { argument, switchFlag } from "../flags.ts";
import { about } from "../help.ts";
import { makeOwnFolder } from "../own-folder.ts";
import { clean } from "../terminal/clean.ts";
import { confirm } from "../terminal/prompt.ts";
import { momentText } from "../terminal/time.ts";

type Flags = LogFlags & { readonly yes?: boolean; readonly fromMirror?: boolean };

export const restore = buildCommand<Flags, [string?], Context>({
  docs: about(
    "Put the state of a backup where the daemon keeps its own, which must be empty: stop the\n" +
      "daemon and move rollcall.db away first, and leave rollcall.db.witness where it is.\n" +
      "What happened since the backup is lost. Fencing tokens and terms go on above all that\n" +
      "can have been handed out since. Bearer tokens that were revoked since become valid\n" +
      "again: those that are in the backup are listed, and you are asked.\n\n" +
      "With --log postgres://… it goes into an empty schema of a database, with --log nats://…\n" +
      "into streams that are not there yet, as another log: a member that belonged to the old\n" +
      "one is started with --accept-loss once.\n\n" +
      "With --from-mirror it restores what a stopped member keeps in mirror.db: all events up\n" +
      "to a moment before its end, without the output of jobs and without the audit. Use it\n" +
      "where the log is lost and the last backup is older than that.",
    { call: "rollcall restore rollcall.backup", does: "asks first" },
    { call: "rollcall restore rollcall.backup --data-dir DIR", does: "in another folder" },
    { call: "rollcall restore rollcall.backup --yes", does: "in a script" },
    { call: "rollcall restore rollcall.backup --log postgres://me@db/x", does: "a cluster" },
    { call: "rollcall restore --from-mirror --log postgres://me@db/x", does: "of this member" },
  ),
  parameters: {
    flags: {
      ...logFlags,
      fromMirror: switchFlag("Of a member's mirror: FILE, or mirror.db where its state is"),
      yes: switchFlag("Do not ask"),
    },
    positional: {
      kind: "tuple",
      parameters: [{ ...argument("FILE", "Made by rollcall backup"), optional: true }],
    },
  },
  async func({ yes = false, fromMirror = false, ...flags }, name) {
    const { log, dataDir } = await stateOf(this, flags);
    if (log.kind === "memory" || dataDir === undefined) {
      throw invalidArgument("the daemon keeps its state in memory: there is no place for a backup");
    }
    if (fromMirror) {
      const path = name === undefined ? join(dataDir, "mirror.db") : resolve(name);
      return intoLog(this, log, { source: await mirrorSource(path), yes });
    }
    if (name === undefined) throw invalidArgument("FILE is missing: the backup to restore");
    const file = resolve(name);
    const next = upWith(flags);
    if (log.kind === "sqlite") return intoFile(this, { file, yes, path: log.path, next });
    const path = join(dataDir, "restoring.db");
    await intoLog(this, log, { source: backupSource(file, path), yes });
  },
});

/** What is restored. */
interface Source {
  /** "A backup of …". */
  readonly words: string;
  readonly logId: string;
  readonly head: number;
  readonly store: Store;
  /** The tokens above which it has to go on, where the state does not tell. */
  readonly floor: number;
  /** When it was made; absent: when its last event happened. */
  readonly madeAtMs?: number;
  close(): Promise<void>;
}

/** The database of the backup is only read here, and copied. */
function backupSource(file: string, path: string): Source {
  makeOwnFolder(dirname(path));
  const restoring = beginRestore(file, path);
  const { facts, store } = restoring;
  return { ...facts, words: wordsOf(facts), store, close: () => restoring.abandon() };
}

async function mirrorSource(path: string): Promise<Source> {
  const { store, logId, head } = await openMirror(path);
  const words = `A mirror of log ${logId}, up to event ${head}.`;
  return { words, logId, head, store, floor: 0, close: () => store.close() };
}

function wordsOf({ madeAtMs, madeBy }: { madeAtMs: number; madeBy: string }): string {
  return `A backup of ${momentText(madeAtMs, Date.now())}, by ${clean(madeBy)}.`;
}

interface Request {
  /** The backup. */
  readonly file: string;
  readonly yes: boolean;
  /** Where its database goes. */
  readonly path: string;
  /** The command that starts a daemon on it. */
  readonly next: string;
}

async function intoFile(context: Context, { file, yes, path, next }: Request): Promise<void> {
  makeOwnFolder(dirname(path));
  const restoring = beginRestore(file, path);
  let state: State;
  try {
    state = await agreed(context, { ...restoring, words: wordsOf(restoring.facts) }, yes);
  } catch (error) {
    await restoring.abandon();
    throw error;
  }
  await restoring.commit(fenceOf(state));
  await printFacts(context, [
    ["restored", path],
    ["events", `up to ${restoring.facts.head}`],
    ["next", next],
  ]);
}

/** The daemon is told where its state is as this command was. */
function upWith({ config, dataDir, log }: LogFlags): string {
  const named = { config, "data-dir": dataDir, log };
  const flags = Object.entries(named).map(([flag, value]) => value && ` --${flag} ${value}`);
  return `rollcall up${flags.filter(Boolean).join("")}`;
}

async function intoLog(
  context: Context,
  log: KeptConfig,
  { source, yes }: { readonly source: Source; readonly yes: boolean },
): Promise<void> {
  const filling = fillingOf(log, `rollcall ${releaseVersion()}`);
  const { store: from } = source;
  const { store: to } = filling;
  try {
    const { logId } = await to.log.open();
    const state = await agreed(context, source, yes);
    const { floor: least, madeAtMs = state.lastAtMs } = source;
    const known = { fence: fenceOf(state), known: 0 };
    const floor = floorAfter({ floor: least, madeAtMs }, known);
    await withProgress(context, (show) => {
      const onProgress: OnCopyProgress = ({ what, events, of }) =>
        show(`${what} ${events} of ${of} events`);
      return restoreCopy({ from, to, onProgress }, floor);
    });
    await filling.commit();
    await printFacts(context, [
      ["restored", log.kind === "sqlite" ? log.path : to.description],
      ["log", `${logId}, from one of ${source.logId}`],
      ["events", `up to ${source.head}`],
      ["next", nextOf(log)],
    ]);
  } catch (error) {
    await filling.abandon();
    throw error;
  } finally {
    await source.close();
  }
}

function nextOf(log: KeptConfig): string {
  if (log.kind === "sqlite") return "rollcall up";
  return `rollcall up --log ${log.url}, with --accept-loss where cluster.json is kept`;
}

/** The state that it makes, once the person wants it. */
async function agreed(
  context: Context,
  { words, store }: Pick<Source, "words" | "store">,
  yes: boolean,
): Promise<State> {
  const { state } = await load(store.log, rules);
  const nowMs = Date.now();
  const tokens = Array.from(state.tokens.byName.values(), ({ token }) => token);
  const { err } = context;
  await err.line(words);
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
  if (tokens.length === 0) return err.line("It holds no valid bearer token.");
  await err.line("These bearer tokens will be valid again, even those that were revoked since:");
  for (const { name, role, expiresAtMs } of tokens) {
    const until = new Date(expiresAtMs).toISOString();
    await err.line(`  ${clean(name)}  ${role}, until ${until}`);
  }
  await err.line("`rollcall tokens revoke NAME` revokes one, once the daemon is up.");
}
