/** Paths as people write them. */
import { homedir } from "node:os";

/** With ~ for the home of who reads it. */
export function fromHome(path: string): string {
  const home = homedir();
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
