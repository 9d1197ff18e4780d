/**
 * A host that clears its session may begin another one in its place without a word about the first
 * (Codex does). So a session that was begun by clearing ends those that it replaces: of the same
 * process, in the same folder, with nothing to do. One that goes on after all is back with its
 * next prompt. Of a process that serves several terminals that is no proof: there a second source
 * tells.
 */
import { readdirSync } from "node:fs";
import { deposit, factId } from "./deposit.ts";
import { agentIdOf, hooksFolder, sessionFolder } from "../../machine/places.ts";
import { recordOf } from "./record.ts";
import type { HookSession } from "./session.ts";

export function endReplaced(session: HookSession, nowMs: number): void {
  if (session.source !== "clear" || !session.process || session.isShared) return;
  const own = agentIdOf(session.host, session.sessionId);
  for (const name of readdirSync(hooksFolder())) {
    if (name === own || !name.startsWith(`${session.host}-`)) continue;
    const folder = sessionFolder(name);
    const { spool } = recordOf({ host: session.host, sessionId: name, folder });
    const other = spool.present();
    if (!isReplaced(other, session)) continue;
    const order = Number(process.hrtime.bigint() / 1000n);
    deposit(folder, { id: factId(order), order, atMs: nowMs, event: "SessionEnd" });
    spool.settle();
  }
}

function isReplaced(other: HookSession, session: HookSession): boolean {
  return (
    !other.isOver &&
    other.task === undefined &&
    other.workspace === session.workspace &&
    other.process?.pid === session.process?.pid &&
    other.process?.start === session.process?.start
  );
}
