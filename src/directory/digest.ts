/**
 * The fingerprint of a card: the same for all ways to write the same JSON. What a double cannot
 * tell apart (digits beyond the 17th) it does not tell apart either, as JCS has it.
 */
import { createHash } from "node:crypto";
import { canonical } from "./cards/canonical.ts";
import type { Card } from "./cards/card.ts";

export function digestOf(card: Card): string {
  return createHash("sha256").update(canonical(card.json)).digest("base64url");
}
