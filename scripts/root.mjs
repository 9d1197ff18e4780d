/** Where the repository lies, and what is in it. */
import { existsSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** Above this file, which may be part of a bundle: then it lies deeper than it was written. */
export const root = folderWith("package.json", dirname(fileURLToPath(import.meta.url)));

/**
 * @param {string} name
 * @param {string} from
 * @returns {string}
 */
function folderWith(name, from) {
  return existsSync(join(from, name)) ? from : folderWith(name, dirname(from));
}

/**
 * The files under a folder, by their path from `base`, in order of name.
 * @param {string} folder
 */
export function filesUnder(folder, base = root) {
  const start = join(base, folder);
  if (!existsSync(start)) return [];
  return readdirSync(start, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(base, join(entry.parentPath, entry.name)))
    .sort();
}

/**
 * Whether a process runs.
 * @param {number} pid
 */
export function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, "EPERM");
  }
}

/**
 * @param {unknown} error
 * @param {string} code
 */
export function hasCode(error, code) {
  return error instanceof Error && "code" in error && error.code === code;
}
