/**
 * The wires by which agents are known, the closest to the agent first: one that sees its every step
 * knows more of it than one that hears its heartbeats.
 */
const WIRES = ["acp", "file", "mcp", "jobs", "arcp", "a2a", "keeper"];

/**
 * The only sources of each wire. The proxy of ACP is a program of the user that runs it, and no
 * caller can prove to be one: so it is known by its caller, an operator or the outpost of its host.
 */
const SOURCES: Readonly<Record<string, string>> = {
  acp: "the ACP proxies of operators and outposts",
  file: "the status files of a machine",
  mcp: "clients of MCP",
  jobs: "the jobs of a daemon",
  arcp: "the agents that a daemon hosts",
  a2a: "the directory",
  keeper: "the registry",
};

/** How close the source is that is called so; the lower the closer. */
export function rankOf(alias: string): number {
  const rank = WIRES.indexOf(wireOf(alias));
  return rank === -1 ? WIRES.length : rank;
}

/** `file` of file@host:NAME. */
export function wireOf(alias: string): string {
  return /^[^:@]*/.exec(alias)?.[0] ?? "";
}

/** `box` of file@box:NAME; undefined where the alias names no machine. */
export function hostOf(alias: string): string | undefined {
  return /^[^:@]*@([^:]*):/.exec(alias)?.[1];
}

/** The only sources that speak under such an alias; undefined where any may. */
export function sourcesOf(alias: string): string | undefined {
  const wire = wireOf(alias);
  return Object.hasOwn(SOURCES, wire) ? SOURCES[wire] : undefined;
}
