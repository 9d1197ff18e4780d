/**
 * The token that the first sender of an entry gets, once. Only its hash is kept, so that neither
 * the log nor a snapshot nor a watcher can tell it.
 */
import { createHash, randomBytes } from "node:crypto";

const BYTES = 32;

export function newToken(): string {
  return randomBytes(BYTES).toString("base64url");
}

export function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}
