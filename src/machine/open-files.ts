/** How many files and connections this process may have open, as far as the system tells. */
import { readFileSync } from "node:fs";

export function openFilesMost(): number {
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}
