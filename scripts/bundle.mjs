/**
 * Bundles entry points, with the packages they use, for Node. A program that opens one file starts
 * twice as fast as one that looks hundreds up: `rollcall up` takes 190 ms instead of 390.
 *
 * All chunks lie flat in one directory two levels below the root, as every source file of src/x/
 * does. So `new URL("./worker.js", import.meta.url)` and `new URL("../../package.json",
 * import.meta.url)` mean the same from all of them.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { root } from "./root.mjs";

/** Optional, so they may be absent: stay packages. */
const OPTIONAL = ["@nats-io/transport-node", "@photostructure/sqlite", "pg"];

/**
 * All packages, for output that finds them installed. Not this one: examples import it by its name
 * and mean the sources. Nor what the bundler itself needs for syntax that Node does not have yet.
 */
export const PACKAGES = [/^(?!rollcall(?:$|\/)|@oxc-project\/runtime)[@a-z]/];

/** Threads that a bundled program starts by the name of their file, which must lie beside it. */
export const THREADS = {
  worker: "src/log/sqlite/worker.ts",
  "search-worker": "src/search/worker.ts",
};

/**
 * Those of the entries whose source is there.
 * @param {Readonly<Record<string, string>>} entries
 */
export function present(entries) {
  const there = Object.entries(entries).filter(([, source]) => existsSync(join(root, source)));
  return Object.fromEntries(there);
}

/**
 * @param {Readonly<Record<string, string>>} entries the name of each output file, and its source
 * @param {string} directory
 * @param {object} [options]
 * @param {boolean} [options.sourcemap]
 * @param {(string | RegExp)[]} [options.external]
 * @param {(name: string) => string} [options.banner] the first line of an entry
 * @param {boolean} [options.whole] everything in one file, also what is loaded on demand
 * @param {"esm" | "cjs"} [options.format]
 * @param {readonly string[]} [options.operations] those that it calls, where it is one command:
 *   to read the description of all takes longer than to call one
 */
export async function bundle(entries, directory, options = {}) {
  const { sourcemap = false, external = OPTIONAL, banner = () => "" } = options;
  const { whole = false, format = "esm", operations } = options;
  const bundler = await rolldown({
    cwd: root,
    input: entries,
    platform: "node",
    external,
    plugins: [
      ...(operations ? [describing(operations)] : []),
      ...(format === "cjs" ? [plain] : []),
    ],
    resolve: {
      alias: {
        // Its main file is UMD, which no bundler sees through; it brings ES modules as well.
        "jsonc-parser": join(root, "node_modules/jsonc-parser/lib/esm/main.js"),
        "rollcall/a2a": join(root, "src/wires/a2a/client/index.ts"),
        "rollcall/embedded": join(root, "src/embedded.ts"),
        "rollcall/keeper": join(root, "src/wires/keeper/client/index.ts"),
        "rollcall/status": join(root, "src/status.ts"),
        rollcall: join(root, "src/index.ts"),
      },
    },
    transform: { target: "node20.19" },
  });
  try {
    await bundler.write({
      dir: directory,
      format,
      sourcemap,
      entryFileNames: format === "cjs" ? "[name].cjs" : "[name].js",
      chunkFileNames: format === "cjs" ? "[name]-[hash].cjs" : "[name]-[hash].js",
      ...(whole && { codeSplitting: false }),
      // All that it needs at once in one file, and what is loaded on demand in others.
      ...(operations && { codeSplitting: { groups: [{ name: "needed", tags: ["$initial"] }] } }),
      banner: (chunk) => (chunk.isEntry ? banner(chunk.name) : ""),
      // Every start reads them all.
      ...(format === "cjs" && { comments: false }),
    });
  } finally {
    await bundler.close();
  }
}

/**
 * What a short command would pay for at every start. Text of which each character is one byte is
 * read, kept and scanned at half the cost of any other. And of a module of Node that is imported
 * whole (`* as fs`) the bundler makes a copy, property by property, for a default that it has not.
 * @type {import("rolldown").Plugin}
 */
const plain = {
  name: "plain",
  generateBundle(_, files) {
    for (const file of Object.values(files)) {
      if (file.type !== "chunk") continue;
      const ascii = file.code.replace(/[^\0-\x7f]/g, escaped);
      file.code = ascii.replace(/^(node_\w+) = __toESM\(\1, 1\);\n/gm, (copy, name) =>
        ascii.includes(`${name}.default`) ? copy : "",
      );
    }
  },
};

/** @param {string} unit */
const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/**
 * In the place of the description of the whole API that of these operations, with nothing in it but
 * what calls and checks read.
 * @param {readonly string[]} operations
 * @returns {import("rolldown").Plugin}
 */
function describing(operations) {
  return {
    name: "describing",
    load(id) {
      if (!id.endsWith("/src/cli/api-document.ts")) return null;
      const { paths, components } = JSON.parse(readFileSync(join(root, DESCRIPTION), "utf8"));
      const described = Object.entries(paths).filter(([, { get, post }]) =>
        operations.includes((get ?? post).operationId),
      );
      const named = new Set(namesIn(described));
      for (const name of named)
        for (const each of namesIn(components.schemas[name])) named.add(each);
      const schemas = Object.fromEntries(
        [...named].map((name) => [name, components.schemas[name]]),
      );
      const document = { paths: Object.fromEntries(described), components: { schemas } };
      const text = JSON.stringify(JSON.stringify(document, withoutWords));
      return `let known; export const apiDocument = () => (known ??= JSON.parse(${text}));`;
    },
  };
}

const DESCRIPTION = "assets/openapi.json";

/**
 * A command that describes nothing needs no words for people, and no flags.
 * @param {string} key
 * @param {unknown} value
 */
function withoutWords(key, value) {
  if (key === "parameters") return [];
  return key === "description" && typeof value === "string" ? "" : value;
}

/**
 * The schemas that a part of the description refers to.
 * @param {unknown} part
 */
function namesIn(part) {
  const found = JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g);
  return Array.from(found, ([, name = ""]) => name);
}
