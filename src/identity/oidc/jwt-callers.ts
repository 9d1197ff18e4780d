/**
 * Callers that present a JWT of the configured issuer (OpenID Connect). Signature, issuer, audience
 * and times decide whether it is let in, its claims who it is and in which roles. One that is
 * expired, for somebody else, or signed otherwise is refused; so is every one while the keys of the
 * issuer are not known.
 */
import { decodeJwt, errors, jwtVerify, type JWTPayload } from "jose";
import type { Clock } from "../../core/clock.ts";
import { RollcallError } from "../../core/errors.ts";
import { key } from "../../core/fields.ts";
import { FIELD } from "../../core/limits.ts";
import { DEFAULT_NAMESPACE, type Principal } from "../../core/principals.ts";
import { SECOND } from "../../core/units.ts";
import { secretHash } from "../../machine/secrets.ts";
import type { Fetcher } from "../../net/fetch/fetcher.ts";
import type { Peer } from "../caller.ts";
import { CredentialConnections } from "../credential-connections.ts";
import { IssuerKeys } from "./issuer-keys.ts";
import { OIDC } from "./limits.ts";
import { claimOf, EMAIL, hasVerifiedEmail, rolesOf, type RoleRule } from "./roles.ts";

/** As the operator sets it. */
export interface OidcConfig {
  readonly issuer: string;
  readonly audience: string;
  /** The claim that names the principal. */
  readonly claim: string;
  readonly roles: readonly RoleRule[];
}

export interface JwtCallersOptions {
  readonly config: OidcConfig;
  readonly fetcher: Pick<Fetcher, "text" | "close">;
  readonly clock: Clock;
}

/** A JWT that was checked. */
interface KnownJwt {
  readonly principal: Principal;
  /** When its time is over, the skew of clocks included. */
  readonly endsAtMs: number;
  readonly checkedAtMs: number;
}

const JWT = /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/;

/** Whether a bearer token is a signed JWT by its form: three parts, of which the first is JSON. */
export function looksLikeJwt(secret: string): boolean {
  return secret.length <= OIDC.length && JWT.test(secret);
}

export class JwtCallers {
  readonly #options: JwtCallersOptions;
  readonly #keys: IssuerKeys;
  /** By the digest of the JWT, the oldest first. */
  readonly #known = new Map<string, KnownJwt>();
  /** By the moment when they end. */
  readonly #connections: CredentialConnections;

  constructor(options: JwtCallersOptions) {
    const { config, fetcher, clock } = options;
    this.#options = options;
    this.#keys = new IssuerKeys({ issuer: config.issuer, fetcher, clock });
    const isLive = (endsAtMs: string) => clock.wallMs() < Number(endsAtMs);
    this.#connections = new CredentialConnections({ clock, isLive });
  }

  /** Throws UNAUTHENTICATED, PERMISSION_DENIED or UNAVAILABLE; no message repeats the JWT. */
  admit(jwt: string, { socket }: Pick<Peer, "socket">): Principal | Promise<Principal> {
    const digest = secretHash(jwt);
    const known = this.#known.get(digest);
    const nowMs = this.#options.clock.wallMs();
    const isKnown =
      known && nowMs < known.endsAtMs && nowMs - known.checkedAtMs < OIDC.rememberedMs;
    if (isKnown) return this.#admitted(known, socket);
    return this.#check(jwt).then((checked) => {
      this.#remember(digest, checked);
      return this.#admitted(checked, socket);
    });
  }

  #admitted({ principal, endsAtMs }: KnownJwt, socket: Peer["socket"]): Principal {
    if (socket) this.#connections.add(String(endsAtMs), socket);
    return principal;
  }

  #remember(digest: string, known: KnownJwt): void {
    this.#known.delete(digest);
    this.#known.set(digest, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > OIDC.remembered && oldest !== undefined) this.#known.delete(oldest);
  }

  async #check(jwt: string): Promise<KnownJwt> {
    const { config, clock } = this.#options;
    const nowMs = clock.wallMs();
    try {
      // Before its key is looked for: that of another issuer is not worth a fetch.
      if (decodeJwt(jwt).iss !== config.issuer) throw refused("of another issuer");
      const { payload } = await jwtVerify(jwt, this.#keys.find, {
        issuer: config.issuer,
        audience: config.audience,
        algorithms: [...OIDC.algorithms],
        requiredClaims: ["exp"],
        clockTolerance: OIDC.skewMs / SECOND,
        currentDate: new Date(nowMs),
      });
      const endsAtMs = (payload.exp ?? 0) * SECOND + OIDC.skewMs;
      return { principal: principalOf(payload, config), endsAtMs, checkedAtMs: nowMs };
    } catch (error) {
      throw error instanceof RollcallError ? error : refused(reasonOf(error));
    }
  }

  close(): void {
    this.#connections.close();
    void this.#options.fetcher.close();
  }
}

function principalOf(claims: JWTPayload, { claim, roles: rules }: OidcConfig): Principal {
  const id = claimOf(claims, claim);
  const problem = typeof id === "string" ? key(claim, id, FIELD.nameLength) : `has no ${claim}`;
  if (typeof id !== "string" || problem !== undefined) throw refused(`not usable: ${problem}`);
  if (claim === EMAIL && !hasVerifiedEmail(claims)) {
    throw refused("not usable: the issuer has not verified its email");
  }
  const name = `oidc:${id}`;
  const roles = rolesOf(claims, rules);
  if (roles.length > 0) return { name, kind: "person", namespace: DEFAULT_NAMESPACE, roles };
  const message = `${name} has no role here: no entry of oidc_roles fits its JWT`;
  throw new RollcallError("PERMISSION_DENIED", message);
}

/** By the codes of jose. */
const REASONS: Readonly<Record<string, string>> = {
  ERR_JWT_EXPIRED: "expired",
  ERR_JOSE_ALG_NOT_ALLOWED: "signed with an algorithm that is not allowed",
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: "not signed by its issuer",
  ERR_JWKS_NO_MATCHING_KEY: "signed with a key that its issuer does not have",
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: "without the id of its key, of which its issuer has several",
};

function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === "aud") return "for another audience";
    if (error.claim === "nbf") return "not good yet";
    return `not usable: its claim ${error.claim} is missing or wrong`;
  }
  return (error instanceof errors.JOSEError && REASONS[error.code]) || "not well-formed";
}

function refused(why: string): RollcallError {
  return new RollcallError("UNAUTHENTICATED", `the JWT is ${why}`);
}
