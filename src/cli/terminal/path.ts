/** Paths as people write them. */
import { homedir } from "node:os";

const HOME = homedir();

/** With ~ for the home of who reads it. */
export function fromHome(path: string): string {
  return path === HOME || path.startsWith(`${HOME}/`) ? `~${path.slice(HOME.length)}` : path;
}
