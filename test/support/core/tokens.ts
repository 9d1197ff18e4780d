/** For tests: a few tokens that come and go, and what must hold of those that are there. */
import { RETENTION } from "../../../src/core/limits.ts";
import type { State } from "../../../src/core/state.ts";
import type { TokenCommand } from "../../../src/core/tokens.ts";
import { sizeProblem, timerProblems } from "./audit-timers.ts";

export type TokenCreate = Extract<TokenCommand, { type: "token.create" }>;

export interface TokenPick {
  readonly who: number;
  readonly what: number;
  readonly how: number;
}

export function tokenCreate(facts: Partial<TokenCreate> = {}): TokenCreate {
  return {
    type: "token.create",
    name: "ci",
    role: "viewer",
    kind: "service",
    host: "",
    ttlMs: 60_000,
    hash: hashOf(1),
    ...facts,
  };
}

/** The digest of a secret that nobody has. */
export function hashOf(secret: number): string {
  return secret.toString(16).padStart(64, "0");
}

export function someTokenCommand({ who, what, how }: TokenPick): TokenCommand {
  const name = `token-${who % 3}`;
  if (how % 3 === 0) return { type: "token.revoke", name };
  const isOutpost = what % 4 === 0;
  return tokenCreate({
    name,
    role: isOutpost ? "outpost" : "agent",
    host: isOutpost ? "box" : "",
    ttlMs: [1000, 20_000, 0][how % 3] ?? 0,
    hash: hashOf(what),
  });
}

export function tokenProblems({ tokens }: State): string[] {
  const problems: string[] = [];
  for (const [name, { token, timer }] of tokens.byName) {
    if (token.name !== name) problems.push(`${name} is filed under another name`);
    if (tokens.byHash.get(token.hash) !== token) problems.push(`byHash lacks ${name}`);
    const endedAtMs = token.revokedAtMs || token.expiresAtMs;
    problems.push(...timerProblems(`token ${name}`, timer, endedAtMs + RETENTION.tokenMs));
  }
  const { size } = tokens.byName;
  problems.push(...sizeProblem("hashes of tokens", tokens.byHash, size));
  return [...problems, ...sizeProblem("endings of tokens", tokens.endings, size)];
}
