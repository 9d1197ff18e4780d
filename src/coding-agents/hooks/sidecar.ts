/**
 * The process beside a session: it shows that the session lives, which its hooks cannot while
 * nothing happens, and takes the file away when the session or its host is gone.
 *
 *   start: ends the session that this one replaces
 *     └─────▶ at every fact: the status follows
 *               │ every 2 s: does the host run?
 *               │ every 20 s: a heartbeat
 *               └──▶ leaves: the session ended · the host is gone (then it ends the session) ·
 *                            another sidecar has its place · the session's folder is gone
 */
import * as fs from "node:fs";
import { isRunning, type ProcessProof } from "../../machine/processes.ts";
import { badgePath, claim, readBadge } from "./attendance.ts";
import { complain } from "./complaints.ts";
import { deposit, factId } from "./deposit.ts";
import { HOOK_HOSTS, type HookHost } from "./fact.ts";
import { SIDECAR } from "./limits.ts";
import { recordOf, type SessionRecord } from "./record.ts";
import type { Session } from "./session.ts";
import { endReplaced } from "./successor.ts";
import { sweepSessions } from "./sweep.ts";

export interface SidecarOptions {
  readonly host: HookHost;
  readonly sessionId: string;
  readonly token: string;
  readonly now?: () => number;
  readonly runs?: (host: ProcessProof) => boolean;
}

export class Sidecar {
  readonly #record: SessionRecord;
  readonly #token: string;
  readonly #now: () => number;
  readonly #runs: (host: ProcessProof) => boolean;
  #beatAtMs = -Infinity;
  #isNew = true;

  constructor({ token, now = Date.now, runs = isRunning, ...session }: SidecarOptions) {
    this.#record = recordOf({ ...session, now });
    this.#token = token;
    this.#now = now;
    this.#runs = runs;
  }

  get folder(): string {
    return this.#record.folder;
  }

  /** Looks after the session once; whether it is to go on. */
  look(): boolean {
    const { folder, spool } = this.#record;
    if (readBadge(folder)?.token !== this.#token) return false;
    const session = this.#isBeatDue() ? this.#beat() : spool.settle();
    if (!session.isOver && this.#isDeserted(session)) this.#endFor(session);
    if (this.#isNew) this.#replace(session);
    return !spool.present().isOver || !this.#leave();
  }

  /** Whether it may: a hook that still saw the badge relies on it, and has left its fact before. */
  #leave(): boolean {
    const { folder, spool } = this.#record;
    fs.rmSync(badgePath(folder), { force: true });
    return spool.settle().isOver || !claim(folder, { token: this.#token, pid: process.pid });
  }

  /** Once: whatever goes wrong with another session is no reason to neglect this one. */
  #replace(session: Session): void {
    this.#isNew = false;
    endReplaced(session, this.#now());
  }

  #isBeatDue(): boolean {
    // A clock that was put back is no reason to be silent.
    return Math.abs(this.#now() - this.#beatAtMs) >= SIDECAR.heartbeatMs;
  }

  #beat(): Session {
    const { folder, spool } = this.#record;
    this.#beatAtMs = this.#now();
    const badge = JSON.stringify({ token: this.#token, pid: process.pid });
    fs.writeFileSync(badgePath(folder), badge, { mode: 0o600 });
    return spool.refresh();
  }

  #isDeserted({ process: host, activityMs }: Session): boolean {
    if (host) return !this.#runs(host);
    return this.#now() - activityMs > SIDECAR.orphanMs;
  }

  #endFor({ process: host }: Session): void {
    const order = Number(process.hrtime.bigint() / 1000n);
    deposit(this.#record.folder, {
      id: factId(order),
      order,
      atMs: this.#now(),
      event: "HostGone",
      ...(host && { process: host }),
    });
    this.#record.spool.settle();
  }
}

/** The program, given HOST SESSION TOKEN: runs until there is nothing to look after. */
export function sidecar([name, sessionId = "", token = ""]: readonly string[]): void {
  const host = HOOK_HOSTS.find((each) => each === name);
  if (!host) return;
  const attending = new Sidecar({ host, sessionId, token });
  let soon: NodeJS.Timeout | undefined;
  let failures = 0;
  const look = () => {
    soon = undefined;
    try {
      if (!attending.look()) stop();
      failures = 0;
    } catch (error) {
      // A full disk may have room again at the next look.
      complain(error);
      if ((failures += 1) >= SIDECAR.failures) stop();
    }
  };
  const watcher = watchFacts(attending.folder, () => {
    soon ??= setTimeout(look, SIDECAR.settleMs);
  });
  const timer = setInterval(look, watcher ? SIDECAR.lookMs : SIDECAR.pollMs);
  const stop = () => {
    watcher?.close();
    clearTimeout(soon);
    clearInterval(timer);
  };
  look();
  sweepSessions(Date.now());
}

/** Nothing where the system watches no more: looking often has to do. */
function watchFacts(folder: string, noticed: () => void): fs.FSWatcher | undefined {
  try {
    const watcher = fs.watch(folder, (_, name) => {
      if (name === null || name.startsWith("fact-")) noticed();
    });
    return watcher.on("error", complain);
  } catch (error) {
    complain(error);
    return undefined;
  }
}
