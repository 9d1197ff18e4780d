/**
 * The process beside a session: it shows that the session lives, which its hooks cannot while
 * nothing happens, and takes the file away when the session or its host is gone. It also asks the
 * second source, where there is one, whether the hooks told everything (presence.ts).
 *
 *   start: ends the session that this one replaces
 *     └─────▶ at every fact, and every change of the second source: the status follows
 *               │ every 30 s: a heartbeat, if the host runs; readers see sooner that it does not
 *               │ every 2 s: the second source, where that does not speak by itself
 *               └──▶ leaves: the session ended · the host is gone (then it ends the session) ·
 *                            another sidecar has its place · the session's folder is gone
 */
import * as fs from "node:fs";
import { isRunning, type ProcessProof } from "../../machine/processes.ts";
import { badgePath, claim, readBadge } from "./attendance.ts";
import { complain } from "./complaints.ts";
import { deposit, factId } from "./deposit.ts";
import { defined, HOOK_HOSTS, type Fact, type HookHost, type Seat } from "./fact.ts";
import { SIDECAR } from "./limits.ts";
import { believedAtMs, isAskedByDialog } from "./presence.ts";
import { recordOf, type SessionRecord } from "./record.ts";
import type { HookSession } from "./session.ts";
import { endReplaced } from "./successor.ts";
import { sweepSessions } from "./sweep.ts";
import { Unchanged } from "./unchanged.ts";
import type { Witness } from "./witness.ts";
import { WITNESSES } from "./witnesses.ts";

export interface SidecarOptions {
  readonly host: HookHost;
  readonly sessionId: string;
  readonly token: string;
  readonly witness?: Witness;
  readonly now?: () => number;
  /** The clock that never jumps, in microseconds. */
  readonly nowOrder?: () => number;
  readonly runs?: (host: ProcessProof) => boolean;
}

const steadyClock = () => Number(process.hrtime.bigint() / 1000n);

export class Sidecar {
  readonly #record: SessionRecord;
  readonly #token: string;
  readonly #now: () => number;
  readonly #nowOrder: () => number;
  readonly #runs: (host: ProcessProof) => boolean;
  readonly #witness: Witness | undefined;
  readonly #badge = new Unchanged<string | undefined>();
  #beatAtMs = -Infinity;
  #isNew = true;
  #told = 0;
  #seen: HookSession | undefined;
  /** When the last fact was heard: a hook may have begun long before. */
  #heardMs = -Infinity;
  /** When the second source is to be believed, unless something else happens. */
  #believedAtMs: number | undefined;

  constructor({ host, sessionId, token, ...options }: SidecarOptions) {
    const { now = Date.now, nowOrder = steadyClock, runs = isRunning, witness } = options;
    this.#record = recordOf({ host, sessionId, now });
    this.#token = token;
    this.#now = now;
    this.#nowOrder = nowOrder;
    this.#runs = runs;
    this.#witness = witness;
  }

  get folder(): string {
    return this.#record.folder;
  }

  /** How long nothing is to be done, if nothing is heard meanwhile. */
  get pauseMs(): number {
    const isTold = this.#witness?.isLive ?? true;
    const nowMs = this.#now();
    const beatMs = (turnOf(nowMs) + 1) * SIDECAR.heartbeatMs - nowMs;
    const believedMs = (this.#believedAtMs ?? Infinity) - nowMs;
    const lookMs = isTold ? Infinity : SIDECAR.lookMs;
    return Math.max(SIDECAR.settleMs, Math.min(beatMs, believedMs, lookMs));
  }

  /** Whether nothing is to be done: asked of many sessions every 2 s, so it reads very little. */
  get isQuiet(): boolean {
    const session = this.#seen;
    if (!session || this.#isBeatDue() || this.#isDeserted(session)) return false;
    const presence = this.#witness?.presence(session);
    return presence === undefined || believedAtMs(session, presence) === undefined;
  }

  /** Looks after the session once; whether it is to go on. */
  look(): boolean {
    const { folder, spool } = this.#record;
    // Who takes the place puts another badge into the folder.
    const token = this.#badge.read(folder, () => readBadge(folder)?.token);
    if (token !== this.#token) return false;
    let session = this.#consult(this.#isBeatDue() ? this.#beat() : spool.settle());
    if (!session.isOver && this.#isDeserted(session)) session = this.#endFor(session);
    if (this.#isNew) this.#replace(session);
    this.#seen = session;
    return !session.isOver || !this.#leave();
  }

  /** Whether it may: a hook that still saw the badge relies on it, and has left its fact before. */
  #leave(): boolean {
    const { folder, spool } = this.#record;
    fs.rmSync(badgePath(folder), { force: true });
    return spool.settle().isOver || !claim(folder, { token: this.#token, pid: process.pid });
  }

  /** Once: whatever goes wrong with another session is no reason to neglect this one. */
  #replace(session: HookSession): void {
    this.#isNew = false;
    endReplaced(session, this.#now());
  }

  #isBeatDue(): boolean {
    return turnOf(this.#now()) !== turnOf(this.#beatAtMs);
  }

  #beat(): HookSession {
    const { folder, spool } = this.#record;
    this.#beatAtMs = this.#now();
    if (this.#isNew) this.#sign();
    else fs.utimesSync(badgePath(folder), new Date(), new Date());
    return spool.refresh();
  }

  #sign(): void {
    const badge = JSON.stringify({ token: this.#token, pid: process.pid });
    fs.writeFileSync(badgePath(this.#record.folder), badge, { mode: 0o600 });
  }

  /** Takes the word of the second source where it is to be believed. */
  #consult(session: HookSession): HookSession {
    this.#believedAtMs = undefined;
    if (!this.#witness || session.isOver) return session;
    const seating = this.#witness.seating?.();
    const isSeated = session.isWitnessed && sameProcess(session.seat, seating?.seat);
    if (seating && !isSeated) return this.#add({ event: "Seated", ...seating });
    const presence = this.#witness.presence(session);
    // A clock that was set back is behind what was heard.
    const isNew = isNews(session, this.#seen);
    this.#heardMs = isNew ? this.#now() : Math.min(this.#heardMs, this.#now());
    const believedMs = presence && believedAtMs(session, presence, this.#heardMs);
    if (!presence || believedMs === undefined) return session;
    if (believedMs > this.#now()) {
      this.#believedAtMs = believedMs;
      return session;
    }
    const { state, sinceMs, question, failure } = presence;
    // A presence older than the last hook is said anew: it still stands.
    const atMs = sinceMs < session.activityMs ? this.#now() : sinceMs;
    return this.#add({
      event: "Presence",
      presence: state,
      atMs,
      ...defined({ question, failure }),
    });
  }

  #isDeserted(session: HookSession): boolean {
    const { process: host, seat, activityMs } = session;
    if (!host && !seat) return this.#now() - activityMs > SIDECAR.orphanMs;
    return this.#gone(session) !== undefined;
  }

  /** When nobody sits in front of it any more it goes on by itself, if it does. */
  #gone({ process: host, seat, task }: HookSession): ProcessProof | undefined {
    if (host && !this.#runs(host)) return host;
    return seat && task?.state !== "working" && !this.#runs(seat.process)
      ? seat.process
      : undefined;
  }

  #endFor(session: HookSession): HookSession {
    const gone = this.#gone(session);
    return this.#add({ event: "HostGone", ...(gone && { process: gone }) });
  }

  #add({ atMs = this.#now(), ...told }: Pick<Fact, "event"> & Partial<Fact>): HookSession {
    const order = this.#nowOrder() - Math.round((this.#now() - atMs) * 1000);
    // Several may be of the same moment.
    this.#told += 1;
    deposit(this.#record.folder, { id: `${factId(order)}-${this.#told}`, order, atMs, ...told });
    return this.#record.spool.settle();
  }
}

/** Not a hook about other calls beside a dialog: many of them would put off what is known of it. */
function isNews(session: HookSession, before: HookSession | undefined): boolean {
  if (session.activityMs === before?.activityMs) return false;
  const isAsked = isAskedByDialog(session) && session.subagent === undefined;
  const { task } = session;
  const isSame = task?.sinceMs === before?.task?.sinceMs && task?.summary === before?.task?.summary;
  return !isAsked || !isSame;
}

/**
 * Sidecars beat at the same moments of the clock, not each at its own: so the machine, and every
 * reader of their files, wakes once for all of them.
 */
function turnOf(atMs: number): number {
  return Math.floor(atMs / SIDECAR.heartbeatMs);
}

function sameProcess(a: Seat | undefined, b: Seat | undefined): boolean {
  return a?.process.pid === b?.process.pid && a?.process.start === b?.process.start;
}

/** The program, given HOST SESSION TOKEN: runs until there is nothing to look after. */
export function sidecar([name, sessionId = "", token = ""]: readonly string[]): void {
  const host = HOOK_HOSTS.find((each) => each === name);
  if (!host) return;
  let soon: NodeJS.Timeout | undefined;
  let later: NodeJS.Timeout | undefined;
  const lookSoon = () => {
    soon ??= setTimeout(look, SIDECAR.settleMs);
  };
  const witness = WITNESSES[host](sessionId, lookSoon);
  const attending = new Sidecar({ host, sessionId, token, witness });
  const watcher = watchFacts(attending.folder, lookSoon);
  let failures = 0;
  const look = () => {
    clearTimeout(soon);
    soon = undefined;
    try {
      if (!attending.look()) return stop();
      failures = 0;
      rest(attending.pauseMs);
    } catch (error) {
      // A full disk may have room again at the next look.
      complain(error);
      if ((failures += 1) >= SIDECAR.failures) stop();
      else rest(SIDECAR.lookMs);
    }
  };
  const rest = (pauseMs: number) => {
    clearTimeout(later);
    later = setTimeout(glance, watcher ? pauseMs : SIDECAR.pollMs);
  };
  const glance = () => {
    if (watcher && attending.isQuiet) rest(attending.pauseMs);
    else look();
  };
  const stop = () => {
    watcher?.close();
    witness.close();
    clearTimeout(later);
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
