/**
 * The wires by which agents are known, the closest to the agent first: one that sees its every step
 * knows more of it than one that hears its heartbeats.
 */
const WIRES = ["acp", "file", "mcp", "jobs", "arcp", "a2a", "keeper"];

/** How close the source is that is called so; the lower the closer. */
export function rankOf(alias: string): number {
  const rank = WIRES.indexOf(wireOf(alias));
  return rank === -1 ? WIRES.length : rank;
}

/** `file` of file@host:NAME. */
export function wireOf(alias: string): string {
  return /^[^:@]*/.exec(alias)?.[0] ?? "";
}
