/**
 * Which one needs me? One word for each agent, and the order in which agents deserve a look.
 *
 * This is the only rule: a row of the fleet and a status file in a list of thousands are judged by
 * it, all axes at once. The axes say in which situation an agent is; the situation has a headline.
 */
import { byText } from "../core/text.ts";
import { isGone } from "../core/questions.ts";
import { isBusy } from "../core/report-news.ts";
import type { Activity, Liveness, ReportedOutcome } from "../core/reports.ts";
import { HOUR, MINUTE } from "../core/units.ts";
import type { Row } from "./row.ts";
import { isStuck, type Patience } from "./stuck.ts";

/** In the order in which they deserve attention. */
export const HEADLINES = ["NEEDS YOU", "PROBLEM", "WORKING", "IDLE", "GONE"] as const;

export type Headline = (typeof HEADLINES)[number];

/** The state of an agent at one moment, without its texts. */
export interface AgentCondition {
  readonly liveness: Liveness;
  /** When that was told. */
  readonly livenessAtMs: number;
  readonly activity: Activity;
  /** When something last happened, as far as its sources tell. */
  readonly activeAtMs: number;
  readonly isAsking: boolean;
  readonly outcome: ReportedOutcome | null;
}

export interface HeadlineOptions {
  readonly nowMs: number;
  readonly patience: Patience;
}

interface JudgedHeadline {
  readonly headline: Headline;
  readonly because: string;
}

export const SITUATIONS = {
  asks: judged("NEEDS YOU", "it waits for a person"),
  died: judged("PROBLEM", "it died just now, without being told to stop"),
  ended: judged("GONE", "it is no longer there"),
  unreachable: judged("PROBLEM", "it missed its heartbeats"),
  silentAtWork: judged("PROBLEM", "it fell silent at work"),
  silentAsking: judged("PROBLEM", "it fell silent while it waited for a person"),
  silent: judged("IDLE", "it fell silent while it was idle"),
  stuck: judged("PROBLEM", "nothing happened for too long"),
  works: judged("WORKING", "it is working"),
  failed: judged("PROBLEM", "what it did last failed"),
  rests: judged("IDLE", "it is alive and idle"),
} as const;

export type Situation = keyof typeof SITUATIONS;

function judged(headline: Headline, because: string): JudgedHeadline {
  return { headline, because };
}

/** A death without a request to stop is a problem while it is news. */
const NEWS_MS = 15 * MINUTE;

/**
 * An end is proved, so it comes first: an ended agent asks nothing. Silence proves no end: the
 * agent may be suspended or slow. But no person can count on it, whatever it asked.
 */
export function situationOf(standing: AgentCondition, options: HeadlineOptions): Situation {
  const { liveness, activity, outcome } = standing;
  if (isGone(liveness)) {
    const isNews = options.nowMs - standing.livenessAtMs < NEWS_MS;
    return liveness === "dead" && isNews ? "died" : "ended";
  }
  if (liveness === "stale") {
    if (standing.isAsking) return "silentAsking";
    return isBusy(activity) ? "silentAtWork" : "silent";
  }
  if (standing.isAsking) return "asks";
  if (liveness === "unreachable") return "unreachable";
  if (isBusy(activity)) return isStuck(standing, options) ? "stuck" : "works";
  return outcome === "failed" || outcome === "rejected" ? "failed" : "rests";
}

/** As long as `prune` keeps the file of an agent that is silent. */
const SILENT_MS = 24 * HOUR;
/** An agent that is gone is shown for a while. */
const GONE_MS = 1 * HOUR;

/** It was at nothing when it fell silent, long ago: neither shown nor counted unless asked for. */
export function isLongSilent({ headline, liveness }: Row, nowMs: number): boolean {
  const { value, evidence } = liveness;
  return headline === "IDLE" && value === "stale" && nowMs - evidence.reportedAtMs > SILENT_MS;
}

/** It is gone, or as good as gone, for so long that it is only shown to those who want all. */
export function isFolded(row: Row, nowMs: number): boolean {
  const isGoneFor = nowMs - row.liveness.evidence.reportedAtMs;
  return (row.headline === "GONE" && isGoneFor > GONE_MS) || isLongSilent(row, nowMs);
}

/** Until when a situation stays what it is, if nothing happens; and whether it is folded away. */
export function holdsUntilMs(
  situation: Situation,
  { liveness, livenessAtMs, activity, activeAtMs }: AgentCondition,
  { nowMs, patience }: HeadlineOptions,
): number {
  switch (situation) {
    case "died":
      return livenessAtMs + NEWS_MS;
    case "ended":
      return nextOf(livenessAtMs + GONE_MS + 1, nowMs);
    case "silent":
      return nextOf(livenessAtMs + SILENT_MS + 1, nowMs);
    case "works":
      return liveness === "alive" ? activeAtMs + (patience[activity] ?? Infinity) + 1 : Infinity;
    case "asks":
    case "unreachable":
    case "silentAtWork":
    case "silentAsking":
    case "stuck":
    case "failed":
    case "rests":
      return Infinity;
  }
}

function nextOf(atMs: number, nowMs: number): number {
  return atMs > nowMs ? atMs : Infinity;
}

/** More milliseconds than any moment of the next centuries has. */
const ALL_TIME_MS = 1e13;

/** The places of a headline: of those that are shown, or of those that are folded away. */
export interface Places {
  readonly from: number;
  /** Not included. */
  readonly to: number;
}

/** Rows that are folded away stand behind all others. */
export function placesOf(headline: Headline, isAway = false): Places {
  const from = (HEADLINES.indexOf(headline) + (isAway ? HEADLINES.length : 0)) * ALL_TIME_MS;
  return { from, to: from + ALL_TIME_MS };
}

/** Where a row stands among all, as a number. Questions: oldest first; else: what moved last. */
export function rowPlaceOf(row: Row, nowMs: number): number {
  const { headline, blockedOn, lastActivityAtMs, liveness } = row;
  const withinMs = blockedOn
    ? blockedOn.value.sinceMs
    : ALL_TIME_MS - 1 - (lastActivityAtMs ?? liveness.evidence.order);
  return placesOf(headline, isFolded(row, nowMs)).from + withinMs;
}

/** A row by where it stands. */
export interface RowPlace {
  readonly place: number;
  readonly id: string;
}

/** The rows that need a person first, then by how long they have. */
export function byRowPlace(a: RowPlace, b: RowPlace): number {
  return a.place - b.place || byText(a.id, b.id);
}
