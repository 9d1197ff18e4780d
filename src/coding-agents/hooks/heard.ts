/**
 * When something was last heard of a coding agent. What hooks leave is in the folders of their
 * sessions; a module inside a program leaves nothing there, and says so itself.
 */
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hooksFolder } from "../../machine/places.ts";
import type { Environment } from "../../machine/surroundings.ts";

const MARKS = "heard";

export function markHeard(name: string): void {
  const folder = join(hooksFolder(), MARKS);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, name), "", { mode: 0o600 });
}

export function lastHeardMs(name: string, env: Environment): number | undefined {
  const base = hooksFolder(env);
  const sessions = namesIn(base).filter((each) => each.startsWith(`${name}-`));
  const paths = [join(MARKS, name), ...sessions].map((each) => join(base, each));
  const times = paths.flatMap((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
