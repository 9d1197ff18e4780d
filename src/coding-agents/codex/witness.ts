/** Codex. */
import type { Witness } from "../hooks/witness.ts";

export function codexWitness(_sessionId: string, _noticed: () => void): Witness {
  return { presence: () => undefined, close: () => undefined };
}
