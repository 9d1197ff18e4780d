/**
 * The roles that the claims of a JWT give: each rule names a claim, a value and a role. A claim may
 * be a text or a list of texts, and lie within others (realm_access.roles). An email that the
 * issuer has not verified gives no role: at many issuers, anybody may enter that of another.
 */
import type { Role } from "../../core/principals.ts";

export interface RoleRule {
  /** Absent: every JWT of the issuer. */
  readonly claim?: string;
  readonly value?: string;
  readonly role: Role;
}

export type Claims = Readonly<Record<string, unknown>>;

export const EMAIL = "email";

/** Some issuers write it as a text; those that leave it out have verified all that they name. */
export function hasVerifiedEmail({ email_verified: verified = true }: Claims): boolean {
  return verified === true || verified === "true";
}

/** In the order of the rules, each once; none where no rule fits. */
export function rolesOf(claims: Claims, rules: readonly RoleRule[]): readonly Role[] {
  const given = rules.filter(({ claim, value }) => {
    if (claim === undefined) return true;
    if (claim === EMAIL && !hasVerifiedEmail(claims)) return false;
    return textsIn(claims, claim).some((each) => each === value);
  });
  return [...new Set(given.map(({ role }) => role))];
}

function textsIn(claims: Claims, claim: string): readonly unknown[] {
  const value = claimOf(claims, claim);
  return Array.isArray(value) ? value : [value];
}

/** A claim by its whole name, which may hold dots, or else by its path. */
export function claimOf(claims: Claims, claim: string): unknown {
  if (Object.hasOwn(claims, claim)) return claims[claim];
  return claim.split(".").reduce<unknown>((within, part) => {
    const isThere = typeof within === "object" && within !== null && Object.hasOwn(within, part);
    return isThere ? (within as Claims)[part] : undefined;
  }, claims);
}
