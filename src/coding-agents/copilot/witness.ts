/** The state of a session of Copilot CLI as the program itself writes it down. */
import { homedir } from "node:os";
import { join } from "node:path";
import { FileTail } from "../hooks/tail.ts";
import type { Witness } from "../hooks/witness.ts";
import { presenceAtEnd } from "./events.ts";

export function copilotWitness(sessionId: string, noticed: () => void): Witness {
  const home = process.env["COPILOT_HOME"] || join(homedir(), ".copilot");
  const path = join(home, "session-state", sessionId, "events.jsonl");
  const events = new FileTail(presenceAtEnd, noticed);
  return {
    get isLive() {
      return events.isWatched;
    },
    presence: () => events.of(path),
    close: () => events[Symbol.dispose](),
  };
}
