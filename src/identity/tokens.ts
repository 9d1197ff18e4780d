/**
 * Callers that present a bearer token, in a header of HTTP, in metadata of gRPC, or in the hello of
 * ARCP. A JWT is for its issuer to vouch for, where there is one; all others are ours. A presented
 * token decides, also for the daemon's own user: one that is unknown, expired or revoked is
 * refused, and a viewer's makes a viewer.
 *
 * Tokens are found by the digest of their secret. How long that takes tells something about the
 * digest of what was sent, and so nothing about any secret.
 */
import type { Clock } from "../core/clock.ts";
import { RollcallError } from "../core/errors.ts";
import { LOCAL, NOBODY, type Principal } from "../core/principals.ts";
import type { State } from "../core/state.ts";
import { principalOf, statusOf, type Token } from "../core/tokens.ts";
import { KIB } from "../core/units.ts";
import { secretHash } from "../machine/secrets.ts";
import { isLoopback } from "../net/loopback.ts";
import { NO_TOKEN } from "../wires/arcp/codec/messages.ts";
import type { Caller, Peer } from "./caller.ts";
import type { IdentityStep } from "./chain.ts";
import { looksLikeJwt, type JwtCallers } from "./oidc/jwt-callers.ts";
import { CredentialConnections } from "./credential-connections.ts";

/** The engine, as far as it matters here. */
export interface TokenSource {
  peek<T>(select: (state: State) => T): T;
  /** Now, as events tell it. */
  readonly nowMs: number;
}

export interface BearerTokensOptions {
  readonly engine: TokenSource;
  readonly clock: Clock;
  /** Decides about JWTs, where there is an issuer. */
  readonly jwts?: Pick<JwtCallers, "admit" | "close"> | undefined;
  /** The token of the user that runs the daemon, where it has one; good on this machine alone. */
  readonly ownToken?: string | undefined;
}

/** A caller that a door let in. */
export interface AdmittedCaller {
  readonly principal: Principal;
  readonly peer: Peer;
}

/** Longer than any of ours, and than a JWT: there is no need to digest more. */
const HEADER_LENGTH = 8 * KIB;
const BEARER = /^Bearer +([\x21-\x7e]+)$/i;

export class BearerTokens implements IdentityStep {
  readonly #engine: TokenSource;
  readonly #jwts: BearerTokensOptions["jwts"];
  readonly #ownHash: string | undefined;
  readonly #connections: CredentialConnections;

  constructor({ engine, clock, jwts, ownToken }: BearerTokensOptions) {
    this.#engine = engine;
    this.#jwts = jwts;
    this.#ownHash = ownToken === undefined ? undefined : secretHash(ownToken);
    const isLive = (hash: string) => {
      const token = this.#find(hash);
      return token !== undefined && statusOf(token, engine.nowMs) === "live";
    };
    this.#connections = new CredentialConnections({ clock, isLive });
  }

  authenticate(caller: Caller): Principal | Promise<Principal> | undefined {
    const header = caller.header("authorization");
    if (header === undefined) return undefined;
    const [, secret] = (header.length <= HEADER_LENGTH && BEARER.exec(header)) || [];
    if (secret === undefined) throw unauthenticated("authorization is not `Bearer TOKEN`");
    return this.#admit(secret, caller.peer);
  }

  /**
   * The principal of an ARCP session: that of its token, or, without one, the caller that the door
   * let in. While there are no tokens at all, any word of the daemon's own user will do.
   */
  hello(secret: string, { principal, peer }: AdmittedCaller): Principal | Promise<Principal> {
    const isJwt = this.#jwts !== undefined && looksLikeJwt(secret);
    const isOpen = !isJwt && this.#engine.peek(({ tokens }) => tokens.byName.size === 0);
    if (isOpen && principal === LOCAL) return principal;
    if (secret === NO_TOKEN && principal !== NOBODY) return principal;
    return this.#admit(secret, peer);
  }

  #admit(secret: string, peer: Peer): Principal | Promise<Principal> {
    if (this.#jwts && looksLikeJwt(secret)) return this.#jwts.admit(secret, peer);
    const { socket, address, isOwnSocket } = peer;
    const hash = secretHash(secret);
    if (hash === this.#ownHash && (isOwnSocket || isLoopback(address))) return LOCAL;
    const token = this.#find(hash);
    if (!token) throw unauthenticated("the token is not known");
    const status = statusOf(token, this.#engine.nowMs);
    if (status !== "live") throw unauthenticated(`the token ${token.name} is ${status}`);
    if (socket) this.#connections.add(hash, socket);
    return principalOf(token);
  }

  #find(hash: string): Token | undefined {
    return this.#engine.peek(({ tokens }) => tokens.byHash.get(hash));
  }

  close(): void {
    this.#connections.close();
    this.#jwts?.close();
  }
}

function unauthenticated(message: string): RollcallError {
  return new RollcallError("UNAUTHENTICATED", message);
}
