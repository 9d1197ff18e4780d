/**
 * The last sign of each coding agent, and its time. Facts of hooks are in the folders of their
 * sessions; a module inside a program leaves nothing there, and says so itself.
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../../machine/folders.ts";
import { hooksFolder } from "../../machine/places.ts";
import type { Environment } from "../../machine/surroundings.ts";
import { complain } from "./complaints.ts";
import { HOOK_HOSTS } from "./fact.ts";
import { newSession } from "./session.ts";
import { Spool } from "./spool.ts";

export interface Heard {
  /** The event of a hook, or what a module said of its session. */
  readonly what: string;
  readonly atMs: number;
}

const MARKS = "heard";

/** Where that cannot be written down, the session is shown all the same. */
export function markHeard(name: string, what: string): void {
  try {
    const folder = join(hooksFolder(), MARKS);
    makeFolder(folder, 0o700);
    writeFileSync(join(folder, name), what, { mode: 0o600 });
  } catch (error) {
    complain(error);
  }
}

export function lastHeard(name: string, env: Environment): Heard | undefined {
  const base = hooksFolder(env);
  const host = HOOK_HOSTS.find((each) => each === name);
  if (!host) return markIn(join(base, MARKS, name));
  const sessions = namesIn(base).filter((each) => each.startsWith(`${name}-`));
  const [latest] = sessions
    .map((each) => ({ folder: join(base, each), changedMs: changedMs(join(base, each)) }))
    .toSorted((a, b) => b.changedMs - a.changedMs);
  if (!latest) return undefined;
  const { folder } = latest;
  const spool = new Spool({ folder, initial: newSession(host, ""), publish: () => undefined });
  try {
    return spool.present().heard;
  } catch {
    return undefined;
  }
}

function markIn(path: string): Heard | undefined {
  const atMs = changedMs(path);
  return atMs === 0 ? undefined : { what: readFileSync(path, "utf8"), atMs };
}

function changedMs(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
