/**
 * Bearer tokens: each is a principal of its own, in one role, for a bounded time.
 *
 *   created ──▶ live ──(revoked, or its time is over)──▶ over ──(30 days later)──▶ forgotten
 *
 * The secret never comes here: the state and the log have its SHA-256. A secret is 256 random bits,
 * so its digest tells nothing about it. A token that is over stays for a while, so that its caller
 * hears why it is refused; its name may be used again at once.
 */
import { newOwner, ownerOf } from "./by.ts";
import { decided, refuse, type Decision, type Moment } from "./decide.ts";
import type { Event } from "./events.ts";
import { invalid, key, type Problem } from "./fields.ts";
import { Heap, type Slot } from "./heap.ts";
import { FIELD, RETENTION, TOKEN } from "./limits.ts";
import { DEFAULT_NAMESPACE, type Principal, type PrincipalKind, type Role } from "./principals.ts";
import { beyondShare, Holdings, SHARED, wishOf } from "./shares.ts";
import type { State } from "./state.ts";
import { DAY, SECOND } from "./units.ts";

export interface Token {
  readonly name: string;
  /** The principal that created it; absent for `local`. */
  readonly owner?: string | undefined;
  readonly role: Role;
  readonly kind: PrincipalKind;
  /** The one that an outpost reports on; empty for every other role. */
  readonly host: string;
  /** The SHA-256 of the secret, in hex. */
  readonly hash: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** 0 unless it was revoked. */
  readonly revokedAtMs: number;
}

export type TokenStatus = "live" | "expired" | "revoked";

export interface TokenEntry {
  readonly token: Token;
  /** Rings when it may be forgotten. */
  readonly timer: Slot<string>;
}

export class Tokens {
  readonly byName = new Map<string, TokenEntry>();
  readonly byHash = new Map<string, Token>();
  readonly holdings = new Holdings();
  readonly endings = new Heap<string>();
}

export type TokenCommand =
  | {
      readonly type: "token.create";
      readonly name: string;
      readonly role: Role;
      readonly kind: PrincipalKind;
      readonly host: string;
      /** 0 for the default. */
      readonly ttlMs: number;
      readonly hash: string;
    }
  | { readonly type: "token.revoke"; readonly name: string };

type Create = Extract<TokenCommand, { type: "token.create" }>;

export interface TokenReplies {
  "token.create": Token;
  "token.revoke": null;
}

export type TokenEvent =
  | { readonly type: "token.created" | "token.revoked"; readonly token: Token }
  | { readonly type: "token.forgotten"; readonly name: string };

export function decideToken(
  state: State,
  command: TokenCommand,
  moment: Moment,
): Decision<Event, Token | null> {
  const refusal = invalid(key("name", command.name, FIELD.nameLength));
  if (refusal) return refusal;
  switch (command.type) {
    case "token.create":
      return create(state, command, moment);
    case "token.revoke": {
      const token = state.tokens.byName.get(command.name)?.token;
      if (!token) return refuse("NOT_FOUND", `no token ${command.name}`);
      const { nowMs } = moment;
      if (statusOf(token, nowMs) !== "live") return decided([], null);
      const revoked = { ...token, revokedAtMs: nowMs };
      return decided([{ type: "token.revoked", token: revoked }], null);
    }
  }
}

function create({ tokens }: State, command: Create, { nowMs, by }: Moment): Decision<Event, Token> {
  const { type: _, ttlMs, ...facts } = command;
  const refusal = invalid(hostProblem(facts), ttlProblem(ttlMs), hashProblem(facts.hash));
  if (refusal) return refusal;
  const { name, hash } = facts;
  const before = tokens.byName.get(name)?.token;
  if (before && statusOf(before, nowMs) === "live") {
    const fix = "revoke it first, or choose another name";
    return refuse("ALREADY_EXISTS", `there is a token ${name} already: ${fix}`);
  }
  if (tokens.byHash.has(hash)) return refuse("ALREADY_EXISTS", "hash is that of another token");
  const wish = wishOf(tokens.holdings, by.principal.name);
  const full = before ? undefined : beyondShare(SHARED.tokens, wish);
  if (full) return full;
  const owner = newOwner(by);
  const expiresAtMs = nowMs + (ttlMs || TOKEN.ttlDefaultMs);
  const token: Token = { ...facts, owner, createdAtMs: nowMs, expiresAtMs, revokedAtMs: 0 };
  return decided([{ type: "token.created", token }], token);
}

function hostProblem({ role, host }: Pick<Create, "role" | "host">): Problem {
  if (role === "outpost" && host === "")
    return "host is missing: the machine that the outpost is on";
  if (role === "outpost") return key("host", host);
  return host === "" ? undefined : `host is for the role outpost only, the role is ${role}`;
}

function ttlProblem(ttlMs: number): Problem {
  const { ttlMinMs, ttlMaxMs } = TOKEN;
  if (ttlMs === 0 || (ttlMs >= ttlMinMs && ttlMs <= ttlMaxMs)) return undefined;
  const range = `${ttlMinMs / SECOND} s to ${ttlMaxMs / DAY} days`;
  return `ttlMs is ${ttlMs / SECOND} s, allowed are ${range}`;
}

function hashProblem(hash: string): Problem {
  return /^[0-9a-f]{64}$/.test(hash) ? undefined : "hash is not a SHA-256 in hex";
}

export function statusOf({ revokedAtMs, expiresAtMs }: Token, nowMs: number): TokenStatus {
  if (revokedAtMs > 0) return "revoked";
  return nowMs >= expiresAtMs ? "expired" : "live";
}

export function principalOf({ name, kind, role, host }: Token): Principal {
  return {
    name: `token:${name}`,
    kind,
    namespace: DEFAULT_NAMESPACE,
    roles: [role],
    ...(host !== "" && { host }),
  };
}

export function evolveToken(state: State, event: TokenEvent): void {
  if (event.type === "token.forgotten") {
    remove(state.tokens, event.name);
    return;
  }
  remove(state.tokens, event.token.name);
  restoreToken(state, event.token);
}

export function restoreToken({ tokens }: State, token: Token): void {
  const { name, hash, revokedAtMs, expiresAtMs } = token;
  const endedAtMs = revokedAtMs || expiresAtMs;
  const timer = tokens.endings.add(endedAtMs + RETENTION.tokenMs, name);
  tokens.byName.set(name, { token, timer });
  tokens.byHash.set(hash, token);
  tokens.holdings.add(ownerOf(token));
}

function remove(tokens: Tokens, name: string): void {
  const entry = tokens.byName.get(name);
  if (!entry) return;
  tokens.endings.remove(entry.timer);
  tokens.byName.delete(name);
  tokens.byHash.delete(entry.token.hash);
  tokens.holdings.remove(ownerOf(entry.token));
}

export function dueToken(tokens: Tokens): number | undefined {
  return tokens.endings.nextAt();
}

export function expireToken({ tokens }: State, nowMs: number): readonly Event[] {
  const old = tokens.endings.takeDue(nowMs);
  return old ? [{ type: "token.forgotten", name: old.value }] : [];
}
