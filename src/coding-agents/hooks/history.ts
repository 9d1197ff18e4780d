/**
 * Hooks are processes: one that began first may report last. So what a session is, is not what was
 * heard in the order it was heard, but in the order in which the hooks began. The latest facts are
 * kept; when a late one comes it takes its place among them, and all after it are put together
 * anew. What is older than those is settled: a fact from before that changes nothing any more.
 */
import { field } from "../../core/text.ts";
import { isFact, type Fact } from "./fact.ts";
import { SPOOL } from "./limits.ts";
import { fold, type HookSession } from "./session.ts";

export interface History {
  /** The session up to the last settled fact, and the order of that fact. */
  readonly settled: HookSession;
  readonly settledOrder: number;
  /** Since then, in order. */
  readonly recent: readonly Fact[];
  /** How many facts it was made of. */
  readonly heard: number;
}

export function isHistory(value: unknown): value is History {
  const [settled, recent] = [field(value, "settled"), field(value, "recent")];
  const isSession = typeof field(settled, "sessionId") === "string";
  const isOrdered = Number.isFinite(field(value, "settledOrder"));
  return isSession && isOrdered && Array.isArray(recent) && recent.every(isFact);
}

export function newHistory(session: HookSession): History {
  return { settled: session, settledOrder: 0, recent: [], heard: 0 };
}

export function presentOf({ settled, recent }: History): HookSession {
  return recent.reduce(fold, settled);
}

export function includes({ recent }: History, id: string): boolean {
  return recent.some((fact) => fact.id === id);
}

/** Whether it comes too late to change anything, or was heard long ago. */
export function isSettled(history: History, fact: Fact): boolean {
  return fact.order <= history.settledOrder && !isOtherClock(history, fact);
}

export function extend(history: History, facts: readonly Fact[]): History {
  return settle(facts.reduce(insert, history));
}

function insert(history: History, fact: Fact): History {
  const heard = history.heard + 1;
  if (isOtherClock(history, fact)) {
    return { settled: presentOf(history), settledOrder: 0, recent: [fact], heard };
  }
  if (includes(history, fact.id) || isSettled(history, fact)) return history;
  const recent = [...history.recent, fact].toSorted(
    (a, b) => a.order - b.order || (a.id < b.id ? -1 : 1),
  );
  return { ...history, recent, heard };
}

/** Orders count from when the machine was started; the wall says when that was. */
function isOtherClock({ recent }: History, fact: Fact): boolean {
  const last = recent.at(-1);
  if (!last) return false;
  const zeroMs = ({ atMs, order }: Fact) => atMs - order / 1000;
  return Math.abs(zeroMs(fact) - zeroMs(last)) > SPOOL.lateMs;
}

function settle(history: History): History {
  const { recent } = history;
  const newest = recent.at(-1)?.order ?? 0;
  const tooOld = recent.findLastIndex(({ order }) => newest - order > SPOOL.lateMs * 1000) + 1;
  const count = Math.max(tooOld, recent.length - SPOOL.recent);
  if (count <= 0) return history;
  const done = recent.slice(0, count);
  return {
    ...history,
    settled: done.reduce(fold, history.settled),
    settledOrder: done.at(-1)?.order ?? history.settledOrder,
    recent: recent.slice(count),
  };
}
