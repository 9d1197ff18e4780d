/** The plain words of `rollcall ls`, which need no parser: switches, and each at most once. */
import type { FleetFlags } from "./show.ts";

const SWITCHES = {
  "--all": "all",
  "--needs-me": "needsMe",
  "--oneline": "oneline",
  "--json": "json",
} as const satisfies Readonly<Record<string, keyof FleetFlags>>;

export function isPlainCall(words: readonly string[]): boolean {
  return (
    words.every((word) => Object.hasOwn(SWITCHES, word)) && new Set(words).size === words.length
  );
}

export function plainFlags(words: readonly string[]): FleetFlags {
  const flags: Record<string, boolean> = {};
  for (const [word, name] of Object.entries(SWITCHES)) if (words.includes(word)) flags[name] = true;
  return { limit: DEFAULT_LIMIT, ...flags };
}

const DEFAULT_LIMIT = 1_000;
