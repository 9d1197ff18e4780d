/** The name of an agent before it gives its own, and the ids that are made of it. */
import { basename } from "node:path";

/** They run what is named behind them. */
const RUNNERS = /^(?:node|npx|npm|pnpm|yarn|bunx?|deno|uvx?|uv|pipx|python[\d.]*|env|sh|bash)$/;
const NAME_LENGTH = 40;

export function programName(command: string, args: readonly string[]): string {
  const program = plain(command);
  if (!RUNNERS.test(program)) return program;
  const named = args.find((word) => !word.startsWith("-") && !/[\s=]/.test(word));
  const name = named === undefined ? "" : plain(named.replace(/(?<=.)@[^/]*$/, ""));
  return name || program;
}

function plain(path: string): string {
  const name = basename(path).replace(/\.(?:exe|cmd|[cm]?[jt]s|py|sh)$/i, "");
  return name.replaceAll(/[^A-Za-z0-9._-]+/g, "-").slice(0, NAME_LENGTH) || "agent";
}

/** Whether an id is one that a proxy gave to what it started. */
export function isProxyId(id: string): boolean {
  return id.startsWith("acp-");
}

/** Unique on this machine for this run. */
export function newProxyId(name: string): string {
  return `acp-${name}-${crypto.randomUUID().slice(0, 8)}`;
}
