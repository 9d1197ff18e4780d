/** Where the state is: may it be written, is there room, can the database be opened. */
import { access, constants, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf } from "../../core/errors.ts";
import { decode } from "../../core/events.ts";
import { sqliteStore } from "../../log/sqlite/store.ts";
import { verify } from "../../log/sqlite/upkeep.ts";
import { holderOf } from "../../log/sqlite/writer-lock.ts";
import { shortDuration } from "../../core/words.ts";
import { fail, ok, problemText, warn, type Check, type Finding } from "./finding.ts";
import { GIB, MIB } from "../../core/units.ts";

const LITTLE_BYTES = 1 * GIB;
const NOTHING_BYTES = GIB / 16;

/** A database up to here is checked whole in less than a second, also without --deep. */
const QUICK_BYTES = 256 * MIB;

/** A log cannot know of a later moment than now, but clocks of machines differ a little. */
const CLOCK_SLACK_MS = 5_000;

export const checkState: Check = async ({ config }) => {
  if (!config) return [];
  const { dataDir } = config;
  if (dataDir === undefined) return [ok("state", "in memory: gone when the daemon stops")];
  const place = await nearest(dataDir);
  return [await folderFinding(dataDir, place), await roomFinding(place)];
};

/** The folder itself, or the closest above it that is there. */
async function nearest(path: string): Promise<string> {
  const isThere = await access(path).then(
    () => true,
    () => false,
  );
  return isThere || dirname(path) === path ? path : nearest(dirname(path));
}

async function folderFinding(dataDir: string, place: string): Promise<Finding> {
  const about = await stat(place);
  if (!about.isDirectory()) {
    return fail("state", `${place} is not a folder`, "choose another with --data-dir");
  }
  try {
    await access(place, constants.W_OK | constants.X_OK);
  } catch {
    return place === dataDir
      ? fail("state", `${dataDir} cannot be written by this user`, ownFix(dataDir))
      : fail("state", `${dataDir} cannot be made: this user may not write in ${place}`, OTHER_FIX);
  }
  if (place !== dataDir) return ok("state", `${dataDir}, made at the first start`);
  if ((about.mode & 0o077) !== 0) {
    const mode = (about.mode & 0o777).toString(8);
    const what = `${dataDir} is open to other users (mode ${mode})`;
    return warn("state", what, `chmod 700 ${dataDir}`);
  }
  return ok("state", dataDir);
}

const OTHER_FIX = "choose another with --data-dir, or set HOME to a folder of this user";

function ownFix(dataDir: string): string {
  return `chown -R ${process.getuid?.() ?? "USER"} ${dataDir}, or choose another with --data-dir`;
}

async function roomFinding(place: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(place);
  const free = bavail * bsize;
  const what = `${(free / GIB).toFixed(1)} GiB free`;
  const fix = `free some space on the disk of ${place}, or choose another with --data-dir`;
  if (free < NOTHING_BYTES) return fail("space", what, fix);
  return free < LITTLE_BYTES ? warn("space", what, fix) : ok("space", what);
}

export const checkDatabase: Check = async ({ config, daemon, nowMs }) => {
  if (config?.log.kind !== "sqlite") return [];
  const { path } = config.log;
  const size = await stat(path).then(
    (about) => about.size,
    () => undefined,
  );
  if (size === undefined) return [ok("database", `${path}, made at the first start`)];
  const holder = holderOf(path);
  const store = sqliteStore({ path, readOnly: true });
  try {
    const { head, oldest } = await store.log.open();
    if (holder === undefined && size <= QUICK_BYTES) await verify(path);
    const kept = head < oldest ? "no events" : `events ${oldest} to ${head}`;
    const found = holder
      ? inUse(`${path} is in use by ${holder}`, daemon)
      : ok("database", `${path}: sound, ${kept}`);
    return [found, await clockFinding(store.log.read(Math.max(head - 1, oldest - 1)), nowMs)];
  } catch (error) {
    if (codeOf(error) === "NOT_FOUND") return [ok("database", problemText(error))];
    // The writer has the file for itself, where readers cannot be.
    if (codeOf(error) === "LOCKED")
      return [inUse(problemText(error).replace(/: stop .*/, ""), daemon)];
    return [fail("database", problemText(error), DATABASE_FIX)];
  } finally {
    await store.close();
  }
};

/** In use is what it should be while a daemon runs. */
function inUse(what: string, daemon: unknown): Finding {
  const fix = "if that is a daemon, give its address with --url; else end that process";
  return daemon instanceof Error ? warn("database", what, fix) : ok("database", what);
}

/** Every page and every row, beside a daemon or without one. */
export const checkDeep: Check = async ({ config }) => {
  if (config?.log.kind !== "sqlite") return [];
  const { path } = config.log;
  try {
    const { head, oldest } = await verify(path);
    const kept = head < oldest ? "no event" : `events ${oldest} to ${head}`;
    return [ok("deep", `${path}: every page and every checksum holds, ${kept}`)];
  } catch (error) {
    if (codeOf(error) === "NOT_FOUND") return [];
    if (codeOf(error) === "LOCKED") {
      const fix = "stop the daemon and try again: on this system it locks out other readers";
      return [warn("deep", problemText(error), fix)];
    }
    const fix = "stop the daemon, move rollcall.db away and rollcall restore a backup";
    return [fail("deep", problemText(error), fix)];
  }
};

const DATABASE_FIX =
  "move it away and rollcall restore a backup; `rollcall up --memory` works without it";

type Batches = ReturnType<ReturnType<typeof sqliteStore>["log"]["read"]>;

async function clockFinding(last: Batches, nowMs: number): Promise<Finding> {
  for await (const { first, entries } of last) {
    const [text] = entries.slice(-1);
    if (text === undefined) continue;
    const aheadMs = decode(text, first).atMs - nowMs;
    if (!(aheadMs > CLOCK_SLACK_MS)) continue;
    const ahead = shortDuration(aheadMs);
    const what = `the log is ${ahead} ahead of the clock: it was wrong then, or is now`;
    return warn("clock", what, "set the clock right; events go on from that time until it is");
  }
  return ok("clock", new Date(nowMs).toISOString());
}
