/** Sessions that nobody will resume: what is remembered of them goes after a month. */
import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { complain } from "./complaints.ts";
import { SPOOL } from "./limits.ts";
import { hooksFolder } from "../../machine/places.ts";

export function sweepSessions(nowMs: number): void {
  try {
    const base = hooksFolder();
    const isOld = (path: string) => nowMs - changedMs(path, nowMs) > SPOOL.forgetMs;
    for (const entry of readdirSync(base, { withFileTypes: true })) {
      if (!entry.isDirectory()) continue;
      const path = join(base, entry.name);
      // A session that is left open only has heartbeats, which change a file that is there.
      const isForgotten = isOld(path) && readdirSync(path).every((name) => isOld(join(path, name)));
      if (isForgotten) rmSync(path, { recursive: true, force: true });
    }
  } catch (error) {
    complain(error);
  }
}

function changedMs(path: string, nowMs: number): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? nowMs;
}
