/** Compares a report with the last one of the same source, to find out whether it is news. */
import { FLEET } from "./limits.ts";
import { isGone } from "./questions.ts";
import type { Activity, Report } from "./reports.ts";

/** A clock that runs ahead must not make a report the newest for ever. */
export function notAhead(report: Report, nowMs: number): Report {
  return { ...withTimes(report, (atMs) => Math.min(atMs, nowMs)), order: report.order };
}

/** The report with its order, and each time that it tells of, made another. */
export function withTimes(report: Report, change: (atMs: number) => number): Report {
  const { lastActivityAtMs, question, outcome } = report.facts;
  return {
    ...report,
    order: change(report.order),
    reportedAtMs: change(report.reportedAtMs),
    ...(report.sinceMs !== undefined && { sinceMs: change(report.sinceMs) }),
    facts: {
      ...report.facts,
      ...(lastActivityAtMs !== undefined && { lastActivityAtMs: change(lastActivityAtMs) }),
      ...(question && {
        question: {
          ...question,
          value: { ...question.value, sinceMs: change(question.value.sinceMs) },
        },
      }),
      ...(outcome && { outcome: { ...outcome, atMs: change(outcome.atMs) } }),
    },
  };
}

/** Since when it goes on: what it does may change on the way, that it does something may not. */
export function withSince(report: Report, before: Report | undefined): Report {
  const last = before && isCurrent(before) ? before : undefined;
  const goesOn = last && phaseOf(last) === phaseOf(report);
  const heldMs = goesOn ? last.sinceMs : undefined;
  return { ...report, sinceMs: report.sinceMs ?? heldMs ?? report.reportedAtMs };
}

/** Neither over nor silent. */
function isCurrent({ facts }: Report): boolean {
  return facts.liveness.value !== "stale" && !isGone(facts.liveness.value);
}

function phaseOf({ facts }: Report): "asks" | "works" | "rests" {
  if (facts.question) return "asks";
  return isBusy(facts.activity?.value ?? "unknown") ? "works" : "rests";
}

/** Whether an agent that says this is at something. */
export function isBusy(activity: Activity): boolean {
  return activity !== "idle" && activity !== "unknown";
}

/**
 * Says the same, and so soon that its source cannot count as silent before it does so again, nor
 * its agent as one that does nothing. Of a source without a ttl that is not known: it is heard when
 * something happened, and perhaps not again.
 */
export function isRepeated(report: Report, before: Report): boolean {
  if (saidIn(report) !== saidIn(before)) return false;
  const activeMs = (report.facts.lastActivityAtMs ?? 0) - (before.facts.lastActivityAtMs ?? 0);
  if (!report.ttlMs) return activeMs === 0;
  const silentMs = report.reportedAtMs - before.reportedAtMs;
  return silentMs < report.ttlMs / 2 && activeMs < FLEET.activityMs;
}

function saidIn({ owner, agentId, links, ttlMs, facts, dismissed }: Report): string {
  const { lastActivityAtMs: _, ...said } = facts;
  return JSON.stringify([owner, agentId, links, ttlMs, said, dismissed]);
}
