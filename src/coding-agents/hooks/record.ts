/** The record of one session: its spool, and the status file that says what is in it. */
import { rmSync } from "node:fs";
import { basename } from "node:path";
import { statusDirectory, statusPath } from "../../wires/files/directory.ts";
import { writeStatusSync } from "../../wires/files/write.ts";
import type { HookHost } from "./fact.ts";
import { agentIdOf, sessionDirectory } from "../../machine/places.ts";
import { newSession, type Session } from "./session.ts";
import { snapshotOf } from "./snapshot.ts";
import { Spool } from "./spool.ts";

export interface SessionRecord {
  readonly directory: string;
  readonly spool: Spool;
}

export interface RecordOptions {
  readonly host: HookHost;
  readonly sessionId: string;
  readonly now?: () => number;
  /** Named after the session unless given. */
  readonly directory?: string;
}

export function recordOf(options: RecordOptions): SessionRecord {
  const { host, sessionId, now = Date.now } = options;
  const { directory = sessionDirectory(agentIdOf(host, sessionId)) } = options;
  const publish = (session: Session) => show(session, basename(directory), now());
  return {
    directory,
    spool: new Spool({ directory, initial: newSession(host, sessionId), publish }),
  };
}

function show(session: Session, agentId: string, nowMs: number): void {
  const directory = statusDirectory();
  if (session.isOver) rmSync(statusPath(agentId, directory), { force: true });
  else writeStatusSync(snapshotOf(session, nowMs), directory);
}
