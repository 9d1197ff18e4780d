/** The last lines of a file that grows, without what was cut off at the front. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { WITNESS } from "./limits.ts";

export function tailOf(path: string): readonly string[] {
  let descriptor: number;
  try {
    descriptor = openSync(path, "r");
  } catch {
    return [];
  }
  try {
    const { size } = fstatSync(descriptor);
    const start = Math.max(0, size - WITNESS.tailBytes);
    const bytes = Buffer.alloc(size - start);
    const count = readSync(descriptor, bytes, 0, bytes.length, start);
    const lines = bytes.toString("utf8", 0, count).split("\n");
    return start === 0 ? lines : lines.slice(1);
  } finally {
    closeSync(descriptor);
  }
}
