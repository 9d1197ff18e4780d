/** Puts a text in place of a file in one step: a reader sees the old one or the new one whole. */
import * as fs from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "./folders.ts";

export function replaceFile(path: string, text: string, mode: number): void {
  const draft = `${path}.${process.pid}-${process.hrtime.bigint()}.tmp`;
  makeFolder(dirname(path));
  try {
    fs.writeFileSync(draft, text, { flag: "wx", mode, flush: true });
    fs.renameSync(draft, path);
  } catch (error) {
    fs.rmSync(draft, { force: true });
    throw error;
  }
}
