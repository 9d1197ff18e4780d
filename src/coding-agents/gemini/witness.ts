/** The state of a session of Gemini CLI as the program itself writes it down. */
import { tailOf } from "../hooks/tail.ts";
import type { Witness } from "../hooks/witness.ts";
import { presenceAtEnd } from "./conversation.ts";

export function geminiWitness(): Witness {
  return {
    presence({ conversation }) {
      return conversation === undefined ? undefined : presenceAtEnd(tailOf(conversation));
    },
    close: () => undefined,
  };
}
