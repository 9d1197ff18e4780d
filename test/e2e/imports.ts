/** What the library brings along, read from what was built. */
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseSync } from "rolldown/utils";

/** What a file imports, itself or through others: our files, and the names of packages. */
export function importsOf(file: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const { module } = parseSync(file, readFileSync(file, "utf8"));
  const requests = [
    ...module.staticImports.map((each) => each.moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ),
  ];
  for (const name of requests) {
    if (name.startsWith(".")) importsOf(resolve(dirname(file), name), seen);
    else seen.add(name);
  }
  return seen;
}

/** The sources that the bundler put in these files: it names each above its code. */
export function sourcesIn(files: readonly string[]): readonly string[] {
  return files.flatMap((file) => {
    const named = readFileSync(file, "utf8").matchAll(/^\/\/ (src\/.*\.ts)$/gm);
    return Array.from(named, ([, path = ""]) => path);
  });
}
