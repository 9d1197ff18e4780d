/**
 * A verifier turns the token of a hello into a principal, or into nothing. Tokens are
 * compared as digests and all of them each time: how long it takes says nothing about any token.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  jwtVerify,
  type JSONWebKeySet,
  type JWTVerifyOptions,
} from "jose";
import { invalidArgument } from "../../../core/errors.ts";

/** The principal, or undefined for nobody. What it throws is our trouble, not the client's. */
export type Verifier = (token: string) => string | undefined | Promise<string | undefined>;

/** Token → principal. */
export function staticTokens(tokens: Readonly<Record<string, string>>): Verifier {
  const known = Object.entries(tokens).map(([token, principal]) => {
    if (token === "" || principal === "") {
      throw invalidArgument("a token and its principal must not be empty");
    }
    return { digest: tokenDigest(token), principal };
  });
  return (token) => {
    const digest = tokenDigest(token);
    let found: string | undefined;
    for (const each of known) if (timingSafeEqual(each.digest, digest)) found = each.principal;
    return found;
  };
}

export function tokenDigest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

export interface JwtOptions {
  /** Where the keys are, or the keys themselves. */
  readonly jwks: URL | JSONWebKeySet;
  readonly issuer: string;
  readonly audience: string;
  /** The claim that names the principal; `sub` unless said. */
  readonly claim?: string;
  readonly algorithms?: readonly string[];
  readonly clock?: () => Date;
}

/** No symmetric ones: a verifier's key could then make tokens. */
const ALGORITHMS = ["RS256", "PS256", "ES256", "ES384", "EdDSA"];

/** Signed tokens. One that is expired, or for somebody else, is nobody's. */
export function jwtTokens(options: JwtOptions): Verifier {
  const { jwks, issuer, audience, claim = "sub", algorithms = ALGORITHMS, clock } = options;
  const keys = jwks instanceof URL ? createRemoteJWKSet(jwks) : createLocalJWKSet(jwks);
  return async (token) => {
    const how: JWTVerifyOptions = {
      issuer,
      audience,
      algorithms: [...algorithms],
      requiredClaims: ["exp", claim],
      ...(clock && { currentDate: clock() }),
    };
    try {
      const { payload } = await jwtVerify(token, keys, how);
      const principal = payload[claim];
      return typeof principal === "string" && principal !== "" ? principal : undefined;
    } catch (error) {
      if (isTheirs(error)) return undefined;
      throw error;
    }
  };
}

/** Whether the token is to blame, and not the place where the keys are. */
function isTheirs(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return false;
  return !(error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid);
}
