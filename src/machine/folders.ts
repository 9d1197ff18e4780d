/**
 * Makes a folder with those above it. Node's own `recursive` never returns where no folder can be
 * made, as in /proc: the system says "no such file" there, and Node begins again from above.
 */
import * as fs from "node:fs";
import { dirname } from "node:path";
import { systemCode } from "./system-error.ts";

export function makeFolder(path: string, mode = 0o777): void {
  if (isFolder(path)) return;
  const above = dirname(path);
  if (!fs.existsSync(above)) makeFolder(above, mode);
  try {
    fs.mkdirSync(path, { mode });
  } catch (error) {
    if (systemCode(error) === "EEXIST" && isFolder(path)) return;
    if (systemCode(error) !== "ENOENT") throw error;
    const message = `no folder can be made in ${above}`;
    throw Object.assign(new Error(message, { cause: error }), { code: "EROFS" });
  }
}

/** A user who may write in a folder may replace every file in it. */
const WRITE_OF_OTHERS = 0o022;
/** A folder for all users, like /tmp. */
const STICKY = 0o1000;

/**
 * Takes the right to write in a folder of this user's from others, and says which mode it had. A
 * folder for all users, and one of another user that is open to others, are refused.
 */
export function closeFolder(path: string): number | undefined {
  const { mode, uid } = fs.statSync(path);
  if (process.getuid === undefined || (mode & WRITE_OF_OTHERS) === 0) return undefined;
  if (uid !== process.getuid() || (mode & STICKY) !== 0) {
    throw new Error(`other users may write in it (mode ${(mode & 0o7777).toString(8)})`);
  }
  fs.chmodSync(path, mode & ~WRITE_OF_OTHERS & 0o7777);
  return mode & 0o777;
}

function isFolder(path: string): boolean {
  return fs.existsSync(path) && fs.statSync(path).isDirectory();
}
