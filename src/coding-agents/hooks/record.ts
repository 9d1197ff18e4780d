/** The record of one session: its spool, and the status file that says what is in it. */
import { rmSync } from "node:fs";
import { basename } from "node:path";
import { statusFolder, statusPath } from "../../wires/files/folder.ts";
import { RepeatedStatus } from "../../wires/files/repeat.ts";
import { writeStatusSync } from "../../wires/files/write.ts";
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
  const heartbeat = new Heartbeat();
  const publish = (session: HookSession, isNew: boolean) => {
    const path = statusPath(basename(folder), statusFolder());
    if (session.isOver) rmSync(path, { force: true });
    else if (isNew) writeStatusSync(snapshotOf(session, now()));
    else heartbeat.write(session, now());
  };
  return {
    folder,
    spool: new Spool({ folder, initial: newSession(host, sessionId), publish }),
  };
}

/** The status of a session of which there is nothing new. */
class Heartbeat {
  #session: HookSession | undefined;
  #status: RepeatedStatus | undefined;

  write(session: HookSession, nowMs: number): void {
    // A clock that was put back is behind what the session did: its status says so as long.
    const isBehind = nowMs < session.activityMs;
    const known = session === this.#session && !isBehind ? this.#status : undefined;
    const status = known ?? new RepeatedStatus(snapshotOf(session, nowMs));
    [this.#session, this.#status] = [isBehind ? undefined : session, status];
    status.writeSync(nowMs);
  }
}
