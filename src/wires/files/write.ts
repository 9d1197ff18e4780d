/**
 * A status file is replaced, never changed: a reader sees the old one or the new one, whole,
 * also when the writer is killed or the machine loses its power in between. So the new text goes to
 * a file beside it under a random name, reaches the disk, and then takes the name over.
 */
import * as fs from "node:fs";
import { basename, dirname } from "node:path";
import { invalidArgument, RollcallError } from "../../core/errors.ts";
import { pathIn, statusFolder, statusPath } from "./folder.ts";
import type { Status } from "./format.ts";
import { jsonText } from "./json-text.ts";
import { STATUS_FILE } from "./limits.ts";
import { makeFolder } from "../../machine/folders.ts";
import { systemCode, systemError } from "../../machine/system-error.ts";
import { validate } from "./validate.ts";

/** For the owner alone: prompts and paths are nobody else's business. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** Writes the file of an agent and returns its path; what is no status is refused. */
export async function writeStatus(
  status: Status,
  folder: string = statusFolder(),
): Promise<string> {
  const { path, text } = prepare(status, folder);
  const draft = draftOf(path);
  const { open, rename, rm } = fs.promises;
  try {
    makeFolder(dirname(path), FOLDER_MODE);
    await using file = await open(draft, "wx", FILE_MODE);
    await file.writeFile(text);
    await file.sync();
    await rename(draft, path);
    await using parent = await open(dirname(path), "r");
    await parent.sync().catch(mustBeUnsyncable);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw systemError(`write ${path}`, error);
  }
  return path;
}

/** The same at once: for a process that is about to end, and for hooks. */
export function writeStatusSync(status: Status, folder: string = statusFolder()): string {
  return replaceSync(prepare(status, folder), true);
}

/** A sign of life need not outlive a loss of power, and so waits for no disk. */
export function writeHeartbeatSync(status: Status, folder: string = statusFolder()): string {
  return replaceSync(prepare(status, folder), false);
}

export function replaceSync({ path, text }: StatusText, isDurable: boolean): string {
  const draft = draftOf(path);
  try {
    writeDraft(draft, text, isDurable);
    fs.renameSync(draft, path);
    if (isDurable) syncFolder(dirname(path));
  } catch (error) {
    removeQuietly(draft);
    throw systemError(`write ${path}`, error);
  }
  return path;
}

/** The folder is nearly always there, and to ask first would cost as much as to write. */
function writeDraft(draft: string, text: string, isDurable: boolean): void {
  const options = { flag: "wx", mode: FILE_MODE, flush: isDurable };
  try {
    fs.writeFileSync(draft, text, options);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
    makeFolder(dirname(draft), FOLDER_MODE);
    fs.writeFileSync(draft, text, options);
  }
}

function syncFolder(folder: string): void {
  const file = fs.openSync(folder, "r");
  try {
    fs.fsyncSync(file);
  } catch (error) {
    mustBeUnsyncable(error);
  } finally {
    fs.closeSync(file);
  }
}

/** Some systems cannot sync a folder; the file is in its place all the same. */
function mustBeUnsyncable(error: unknown): void {
  if (!["EINVAL", "ENOTSUP", "EPERM"].includes(systemCode(error))) throw error;
}

/** The caller gets the first error; that the draft cannot be removed either adds nothing. */
function removeQuietly(draft: string): void {
  try {
    fs.rmSync(draft, { force: true });
  } catch {
    // A sweep finds it.
  }
}

/** Drafts whose writers were killed. */
const DRAFT = /^\..+\.json\.\w+\.tmp$/;

/** Removes drafts that nobody has touched for so long that nobody will finish them. */
export function sweepDrafts(folder: string, beforeMs: number): void {
  for (const name of fs.readdirSync(folder).filter((each) => DRAFT.test(each))) {
    const path = pathIn(folder, name);
    const stats = fs.lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isFile() && stats.mtimeMs < beforeMs) removeQuietly(path);
  }
}

interface StatusText {
  readonly path: string;
  readonly text: string;
}

export function prepare(status: Status, folder: string): StatusText {
  const problems = validate(status);
  if (problems.length > 0) throw invalidArgument(problems.join("; "));
  const path = statusPath(status.agent_id, folder);
  const text = `${jsonText(status)}\n`;
  // ASCII: a character is a byte.
  if (text.length > STATUS_FILE.bytes) {
    const most = STATUS_FILE.bytes;
    const message = `the status has ${text.length} bytes, at most ${most} are allowed`;
    throw new RollcallError("TOO_LARGE", message);
  }
  return { path, text };
}

/**
 * A name that is taken is refused when it is opened, so it need not be a secret as well: loading
 * node:crypto for it would take longer than everything else here.
 */
function draftOf(path: string): string {
  const name = `.${basename(path)}.${Math.random().toString(36).slice(2)}.tmp`;
  return pathIn(dirname(path), name);
}
