/** Secrets that this program makes, and their digests, which are all that it keeps of them. */
import { createHash, randomBytes } from "node:crypto";

/** Tells people and scanners of leaked secrets what it is. */
const PREFIX = "rollcall_";
const SECRET_BYTES = 32;

export function newSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString("base64url");
}

/** The key of one agent, which it gets when it registers. */
export function newAgentKey(): string {
  return `${PREFIX}agent_${randomBytes(SECRET_BYTES).toString("base64url")}`;
}

/** The SHA-256 of a secret, in hex. */
export function secretHash(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
