/** Which one needs me? A row in one word, and the order in which rows deserve a look. */
import { isGone } from "../core/questions.ts";
import type { Row } from "./row.ts";

/** In the order in which they deserve attention. */
export const HEADLINES = ["NEEDS YOU", "PROBLEM", "WORKING", "IDLE", "GONE"] as const;

export type Headline = (typeof HEADLINES)[number];

type Judged = Pick<Row, "headline" | "why" | "because">;

type Seen = Omit<Row, keyof Judged | "stuckSinceMs">;

/** A death that nobody asked for is a problem while it is news. */
const NEWS_MS = 15 * 60_000;

export function headlineOf(row: Seen, stuckSinceMs: number | null, nowMs: number): Judged {
  const { liveness, activity, blockedOn, outcome } = row;
  const doing = activity.message ?? activity.task ?? "";
  if (blockedOn) {
    const { text, kind } = blockedOn.value;
    return judged("NEEDS YOU", text || `asks for ${kind}`, "it waits for a person");
  }
  if (isGone(liveness.value)) return gone(row, nowMs);
  if (liveness.value === "unreachable") {
    return judged("PROBLEM", "does not answer", "it missed its heartbeats");
  }
  if (liveness.value === "stale") {
    return isBusy(row)
      ? judged("PROBLEM", `fell silent while ${activity.value}`, "it fell silent at work")
      : judged("GONE", "fell silent", "it fell silent, and was at nothing");
  }
  if (stuckSinceMs !== null) {
    const why = `says that it is ${activity.value}, but nothing happens`;
    return judged("PROBLEM", why, "nothing happened for too long");
  }
  if (isBusy(row)) {
    return judged("WORKING", doing === "" ? activity.value : doing, "it is at something");
  }
  const failed = outcome && (outcome.value === "failed" || outcome.value === "rejected");
  if (failed) return judged("PROBLEM", outcome.text ?? outcome.value, "what it did last failed");
  const last = outcome ? (outcome.text ?? outcome.value) : doing;
  return judged("IDLE", last, "it is there, and at nothing");
}

/** Whether it says that it is at something. */
function isBusy({ activity }: Pick<Row, "activity">): boolean {
  return activity.value !== "idle" && activity.value !== "unknown";
}

function gone({ liveness, reportedAtMs }: Seen, nowMs: number): Judged {
  const { rule } = liveness.evidence;
  const isNews = liveness.value === "dead" && nowMs - reportedAtMs < NEWS_MS;
  return isNews
    ? judged("PROBLEM", rule, "it died just now, and nobody asked it to")
    : judged("GONE", rule, "it is no longer there");
}

function judged(headline: Headline, why: string, because: string): Judged {
  return { headline, why, because };
}

/** What needs a person first, then by how long it has. */
export function inOrder(rows: readonly Row[]): Row[] {
  // The place of each is worked out once, not at every comparison.
  const placed = rows.map((row) => ({ row, place: placeOf(row) }));
  placed.sort((a, b) => a.place - b.place || (a.row.id < b.row.id ? -1 : 1));
  return placed.map(({ row }) => row);
}

/** More milliseconds than any moment of the next centuries has. */
const ALL_TIME_MS = 1e13;

/** Where a row stands among all, as a number. Questions: oldest first; else: what moved last. */
export function placeOf(row: Row): number {
  const { headline, blockedOn, lastActivityAtMs, reportedAtMs } = row;
  const withinMs = blockedOn
    ? blockedOn.value.sinceMs
    : ALL_TIME_MS - (lastActivityAtMs ?? reportedAtMs);
  return HEADLINES.indexOf(headline) * ALL_TIME_MS + withinMs;
}
