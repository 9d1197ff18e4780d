/** Sessions that nobody will resume: what is remembered of them goes after a month. */
import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { complain } from "./complaints.ts";
import { SPOOL } from "./limits.ts";
import { hooksFolder } from "../../machine/places.ts";

/** A folder changes with everything that happens in its session, heartbeats too. */
export function sweepSessions(nowMs: number): void {
  try {
    const base = hooksFolder();
    for (const entry of readdirSync(base, { withFileTypes: true })) {
      if (!entry.isDirectory()) continue;
      const path = join(base, entry.name);
      const changedMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? nowMs;
      if (nowMs - changedMs > SPOOL.forgetMs) rmSync(path, { recursive: true, force: true });
    }
  } catch (error) {
    complain(error);
  }
}
