/**
 * A hook must not fail its host, so what goes wrong is said where only who looks for it sees it: a
 * small file beside the sessions. Nothing of a payload goes in: it may hold secrets.
 */
import { appendFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { COMPLAINTS } from "./limits.ts";
import { makeFolder } from "../../machine/folders.ts";
import { hooksFolder } from "../../machine/places.ts";

export function complain(problem: unknown): void {
  try {
    const folder = hooksFolder();
    makeFolder(folder, 0o700);
    const path = join(folder, "errors.log");
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (size > COMPLAINTS.bytes) renameSync(path, `${path}.1`);
    const text = problem instanceof Error ? problem.message : String(problem);
    const line = text.replaceAll(/[\p{Cc}\s]+/gu, " ").slice(0, COMPLAINTS.lineLength);
    appendFileSync(path, `${new Date().toISOString()} ${line}\n`, { mode: 0o600 });
  } catch {
    // There is no other place to report it, and the host must not fail.
  }
}
