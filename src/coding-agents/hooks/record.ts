/** The record of one session: its spool, and the status file that says what is in it. */
import { rmSync } from "node:fs";
import { basename } from "node:path";
import { statusFolder, statusPath } from "../../wires/files/folder.ts";
import { writeHeartbeatSync, writeStatusSync } from "../../wires/files/write.ts";
import type { HookHost } from "./fact.ts";
import { agentIdOf, sessionFolder } from "../../machine/places.ts";
import { newSession, type HookSession } from "./session.ts";
import { snapshotOf } from "./snapshot.ts";
import { Spool } from "./spool.ts";

export interface SessionRecord {
  readonly folder: string;
  readonly spool: Spool;
}

export interface RecordOptions {
  readonly host: HookHost;
  readonly sessionId: string;
  readonly now?: () => number;
  /** Named after the session unless given. */
  readonly folder?: string;
}

export function recordOf(options: RecordOptions): SessionRecord {
  const { host, sessionId, now = Date.now } = options;
  const { folder = sessionFolder(agentIdOf(host, sessionId)) } = options;
  const publish = (session: HookSession, isNew: boolean) => {
    const path = statusPath(basename(folder), statusFolder());
    if (session.isOver) return rmSync(path, { force: true });
    const write = isNew ? writeStatusSync : writeHeartbeatSync;
    write(snapshotOf(session, now()));
  };
  return {
    folder,
    spool: new Spool({ folder, initial: newSession(host, sessionId), publish }),
  };
}
