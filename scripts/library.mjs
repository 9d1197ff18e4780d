/**
 * The files of the library: those that the exports of package.json lead to, one naming the next.
 * Programs follow the .js files, type checkers the .d.ts files; all else would only be in the way
 * of people who install the package.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { root } from "./root.mjs";

/** An import, or the file of a thread. */
const NAMED = /"(\.\.?\/[^"\n]+)\.[jt]s"/g;

/**
 * By their paths from `dist`, which is the built library.
 * @param {string} dist
 * @returns {ReadonlySet<string>}
 */
export function libraryFiles(dist) {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  /** @type {string[]} */
  const entries = Object.values(exports).flatMap((to) => (to.types ? [to.types, to.default] : []));
  const found = new Set(entries.map((path) => relative("dist", path)));
  // A set hands out what is added meanwhile.
  for (const file of found) {
    const ending = file.endsWith(".d.ts") ? ".d.ts" : ".js";
    for (const [, name = ""] of readFileSync(join(dist, file), "utf8").matchAll(NAMED)) {
      const next = join(dirname(file), name + ending);
      if (!next.startsWith("..") && existsSync(join(dist, next))) found.add(next);
    }
  }
  return found;
}
