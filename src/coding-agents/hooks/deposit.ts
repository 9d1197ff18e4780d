/**
 * A hook leaves its fact as a file of its own in the session's folder, whole or not at all. The
 * rest (see spool.ts) is done by whoever has the time for it.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../../machine/folders.ts";
import type { Fact } from "./fact.ts";

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

export function deposit(folder: string, fact: Fact): void {
  makeFolder(folder, FOLDER_MODE);
  fs.renameSync(writeDraft(folder, fact), join(folder, `fact-${fact.id}.json`));
}

/** Under a unique name. */
export function writeDraft(folder: string, value: unknown): string {
  const path = join(folder, `draft-${process.pid}-${process.hrtime.bigint()}`);
  fs.writeFileSync(path, JSON.stringify(value), { flag: "wx", mode: FILE_MODE });
  return path;
}

/** Names a fact so that names are in the order in which hooks began. */
export function factId(order: number): string {
  return `${String(order).padStart(16, "0")}-${process.pid}`;
}
