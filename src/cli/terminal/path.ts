/** Paths as people write them. */
import { homedir } from "node:os";

const HOME = homedir();

/** With ~ for the user's home. */
export function fromHome(path: string): string {
  return path === HOME || path.startsWith(`${HOME}/`) ? `~${path.slice(HOME.length)}` : path;
}
