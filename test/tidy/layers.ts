/**
 * Imports point down only: a file may import from its own folder and from those further down this
 * list, never from one beside or above it. What lies directly in src/ (main, index) is on top.
 */
import { posix } from "node:path";
import type { Source } from "./source.ts";

const LAYERS: readonly (readonly string[])[] = [
  ["bin"],
  ["cli"],
  ["tui"],
  ["daemon"],
  ["identity"],
  ["coding-agents"],
  ["wires"],
  ["operations"],
  ["fleet"],
  ["jobs", "notify", "outposts"],
  ["directory"],
  ["search"],
  ["engine"],
  ["net"],
  ["machine"],
  ["log", "core"],
];

/** The steps sideways. */
const ALSO_ALLOWED: Readonly<Record<string, readonly string[]>> = {
  /** A store speaks the errors of core and keeps its limits. */
  log: ["src/core/errors.ts", "src/core/limits.ts"],
};

/** The one wire that another may use: the ACP proxy publishes what it sees as a status file. */
const PUBLISHED_BY = {
  wire: "acp",
  files: ["emitter.ts", "format.ts", "meta.ts"].map((name) => `src/wires/files/${name}`),
};

const TOP = -1;

function layerOf(path: string): { readonly name: string; readonly rank: number } {
  const [, name = "", ...rest] = path.split("/");
  if (rest.length === 0) return { name: "", rank: TOP };
  const rank = LAYERS.findIndex((names) => names.includes(name));
  if (rank === -1) throw new Error(`${path} is in no layer: add its folder to test/tidy/layers.ts`);
  return { name, rank };
}

/** "keeper" for src/wires/keeper/…; what lies directly in src/wires/ is for all wires. */
function wireOf(path: string): string | undefined {
  return /^src\/wires\/([^/]+)\//.exec(path)?.[1];
}

function mayImport(from: string, to: string): boolean {
  const [above, below] = [layerOf(from), layerOf(to)];
  if (above.name !== below.name) {
    return above.rank < below.rank || (ALSO_ALLOWED[above.name]?.includes(to) ?? false);
  }
  const wire = wireOf(from);
  if (wire === PUBLISHED_BY.wire && PUBLISHED_BY.files.includes(to)) return true;
  return wireOf(to) === undefined || wire === wireOf(to);
}

export function wrongImports({ path, imports, isTest }: Source): readonly string[] {
  const inCore = layerOf(path).name === "core";
  return imports
    .filter((written) => {
      if (!written.startsWith(".")) return inCore && !isTest;
      const target = posix.join(posix.dirname(path), written);
      return target.startsWith("src/") && !mayImport(path, target);
    })
    .map((written) => `${path} may not import ${written}`);
}
