/**
 * The sessions of a connection and the record of each, with the times that belong to it: since when
 * it is so, how long it has been quiet, when to look again.
 */
import { acpQuestionOf, type AcpConnection } from "./connection.ts";
import { MEMORY, QUIET, SHOWN, type QuietSituation } from "./limits.ts";
import { deriveStatus, type DerivedStatus } from "./precedence.ts";
import { looksLike, URGENCY, type AcpRecord } from "./record.ts";
import { AcpSession, foregroundTools } from "./session.ts";

export class Roster {
  readonly #sessions = new Map<string, AcpSession>();
  readonly #connection: AcpConnection;
  #agent: AcpRecord = NOTHING;
  /** Whether the connection itself had something to say. */
  #hasOwn = false;

  constructor(connection: AcpConnection) {
    this.#connection = connection;
  }

  get agent(): AcpRecord {
    return this.#agent;
  }

  all(): readonly AcpSession[] {
    return [...this.#sessions.values()];
  }

  find(id: string | undefined): AcpSession | undefined {
    return id === undefined ? undefined : this.#sessions.get(id);
  }

  add(id: string, nowMs: number): AcpSession {
    const session = new AcpSession(id, nowMs);
    this.#sessions.set(id, session);
    return session;
  }

  get isFull(): boolean {
    return this.#sessions.size >= MEMORY.sessions;
  }

  /** One that nobody misses: the oldest that is idle. */
  dispensable(): AcpSession | undefined {
    return this.all().find(({ record }) => (record?.state ?? "idle") === "idle");
  }

  /** The last that is said of a session. */
  forget(session: AcpSession, message: string, nowMs: number): AcpRecord {
    this.#sessions.delete(session.id);
    this.find(session.parentId ?? undefined)?.children.delete(session.id);
    const last = { ...NOTHING, sessionId: session.id, stopReason: session.stopReason };
    return { ...last, ...told({ ...last, state: "exited", message }, session.record, nowMs) };
  }

  /** A frame of a child is a sign of life of those above it. */
  heard(session: AcpSession, nowMs: number): void {
    for (const each of this.#lineage(session)) each.quietSinceMs = nowMs;
  }

  /** The changed records, of it and of its parents. */
  refresh(session: AcpSession, nowMs: number): readonly AcpRecord[] {
    return this.#lineage(session).flatMap((each) => {
      const before = each.record;
      const derived = deriveStatus(each, this.#sessions);
      each.quiet = derived.quiet;
      each.record = this.#recordOf(each, derived, nowMs);
      return before !== undefined && isSame(before, each.record) ? [] : [each.record];
    });
  }

  /** The record of the agent as a whole, if it changed. */
  refreshAgent(
    nowMs: number,
    { isAfterChange }: { readonly isAfterChange: boolean },
  ): readonly AcpRecord[] {
    const before = this.#agent;
    const hadOwn = this.#hasOwn;
    this.#hasOwn = this.#connection.derive() !== undefined;
    if (!isAfterChange && !hadOwn && !this.#hasOwn) return [];
    this.#agent = this.#agentRecord(nowMs);
    return isSame(before, this.#agent) ? [] : [this.#agent];
  }

  #lineage(session: AcpSession): readonly AcpSession[] {
    const line = [session];
    let above = this.find(session.parentId ?? undefined);
    while (above !== undefined && !line.includes(above) && line.length < MEMORY.generations) {
      line.push(above);
      above = this.find(above.parentId ?? undefined);
    }
    return line;
  }

  #recordOf(session: AcpSession, derived: DerivedStatus, nowMs: number): AcpRecord {
    return {
      v: 1,
      sessionId: session.id,
      ...told(derived, session.record, nowMs),
      ...silence(derived.quiet, nowMs - session.quietSinceMs),
      stopReason: session.stopReason,
      error: session.error,
      openTools: foregroundTools(session).length,
      pendingAsks: session.asks.size,
      questions: firstOf(session.asks, SHOWN.questions).flatMap(acpQuestionOf),
    };
  }

  /** The connection itself competes with its sessions: nobody works in one that cannot sign in. */
  #agentRecord(nowMs: number): AcpRecord {
    const own = this.#connection.derive();
    const records = this.all().flatMap(({ record }) => record ?? []);
    const questions = [
      this.#connection.questions(),
      ...records.map((each) => each.questions),
    ].flat();
    const leading = mostUrgent([
      ...(own === undefined ? [] : [this.#ownRecord(own, nowMs)]),
      ...records,
    ]);
    return {
      ...leading,
      sessionId: null,
      ...told(leading, this.#agent, nowMs),
      background: records.some(({ background }) => background),
      openTools: sum(records.map((each) => each.openTools)),
      pendingAsks: sum(records.map((each) => each.pendingAsks)) + this.#connection.asks.size,
      questions: questions.slice(0, SHOWN.questions),
    };
  }

  #ownRecord(own: DerivedStatus, nowMs: number): AcpRecord {
    const quietMs = nowMs - this.#connection.quietSinceMs;
    return { ...NOTHING, ...told(own, undefined, nowMs), ...silence(own.quiet, quietMs) };
  }
}

const NOTHING: AcpRecord = {
  v: 1,
  sessionId: null,
  state: "idle",
  status: "idle",
  message: null,
  currentTask: null,
  since: new Date(0).toISOString(),
  source: "derived",
  background: false,
  stalled: false,
  quietSeconds: 0,
  stopReason: null,
  error: null,
  openTools: 0,
  pendingAsks: 0,
  questions: [],
};

type RecordStatus = Pick<
  AcpRecord,
  "state" | "status" | "message" | "currentTask" | "since" | "source" | "background"
>;

function told(
  derived: Omit<RecordStatus, "since">,
  before: AcpRecord | undefined,
  nowMs: number,
): RecordStatus {
  const { state, status, message, currentTask, source, background } = derived;
  const isAsBefore = before?.state === state && before.status === status;
  const since = isAsBefore ? before.since : new Date(nowMs).toISOString();
  return { state, status, message, currentTask, since, source, background };
}

/** Of two that are equally urgent the one that began later: that is the news. */
function mostUrgent(records: readonly AcpRecord[]): AcpRecord {
  let leading: AcpRecord | undefined;
  for (const record of records) {
    const lead = leading === undefined ? 1 : URGENCY[record.status] - URGENCY[leading.status];
    if (lead > 0 || (lead === 0 && leading !== undefined && record.since > leading.since)) {
      leading = record;
    }
  }
  return leading ?? NOTHING;
}

function silence(
  situation: QuietSituation | undefined,
  quietMs: number,
): Pick<AcpRecord, "stalled" | "quietSeconds"> {
  if (situation === undefined) return { stalled: false, quietSeconds: 0 };
  const { hintMs, stalledMs } = QUIET[situation];
  if (quietMs < hintMs) return { stalled: false, quietSeconds: 0 };
  return { stalled: quietMs >= stalledMs, quietSeconds: Math.floor(quietMs / 1000) };
}

/** When silence that is judged so is judged next; never if it is judged already. */
export function quietDeadlineMs(
  situation: QuietSituation | undefined,
  quiet: { readonly sinceMs: number; readonly nowMs: number },
): number {
  if (situation === undefined) return Infinity;
  const { hintMs, stalledMs } = QUIET[situation];
  const quietMs = quiet.nowMs - quiet.sinceMs;
  if (quietMs < hintMs) return quiet.sinceMs + hintMs;
  return quietMs < stalledMs ? quiet.sinceMs + stalledMs : Infinity;
}

function firstOf<Value>(map: ReadonlyMap<string, Value>, most: number): readonly Value[] {
  const first: Value[] = [];
  for (const value of map.values()) {
    if (first.length >= most) break;
    first.push(value);
  }
  return first;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

/** Equal in all but the times. */
function isSame(a: AcpRecord, b: AcpRecord): boolean {
  return (
    looksLike(a, b) &&
    a.source === b.source &&
    a.stopReason === b.stopReason &&
    a.error === b.error &&
    a.openTools === b.openTools &&
    a.questions.length === b.questions.length &&
    a.questions.every(({ id }, index) => id === b.questions[index]?.id)
  );
}
