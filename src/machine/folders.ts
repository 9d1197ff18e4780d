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

function isFolder(path: string): boolean {
  return fs.existsSync(path) && fs.statSync(path).isDirectory();
}
