/**
 * The library, as the exports of package.json tell: "default" is the bundle in dist/lib/ and
 * "types" the declaration that tsc makes of the source. Its files are those that the exports lead
 * to, one naming the next. Programs follow the .js files, type checkers the .d.ts files; all else
 * would only be in the way of people who install the package.
 */
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { root } from "./root.mjs";

/** An import, or the file of a thread. */
const NAMED = /"(\.\.?\/[^"\n]+)\.[jt]s"/g;

/** @returns {readonly { types: string, default: string }[]} */
function exported() {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return Object.values(exports).filter((to) => "types" in Object(to));
}

/** The name of each bundle, and its source. */
export function libraryEntries() {
  return Object.fromEntries(
    exported().map(({ types, default: file }) => [
      basename(file, ".js"),
      types.replace("./dist/lib/", "src/").replace(/\.d\.ts$/, ".ts"),
    ]),
  );
}

/**
 * By their paths from `dist`, which is the built library.
 * @param {string} dist
 * @returns {ReadonlySet<string>}
 */
export function libraryFiles(dist) {
  const entries = exported().flatMap(({ types, default: file }) => [types, file]);
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
