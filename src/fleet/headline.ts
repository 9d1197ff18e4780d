/** Which one needs me? A row in one word, and the order in which rows deserve a look. */
import { isGone } from "../core/questions.ts";
import type { Row } from "./row.ts";

/** In the order in which they deserve attention. */
export const HEADLINES = ["NEEDS YOU", "PROBLEM", "WORKING", "IDLE", "GONE"] as const;

export type Headline = (typeof HEADLINES)[number];

interface Judged {
  readonly headline: Headline;
  readonly why: string;
}

type Seen = Omit<Row, "headline" | "why">;

/** A death that nobody asked for is a problem while it is news. */
const NEWS_MS = 15 * 60_000;

export function headlineOf(row: Seen, nowMs: number): Judged {
  const { liveness, activity, blockedOn, outcome } = row;
  const doing = activity.message ?? activity.task ?? "";
  if (blockedOn)
    return judged("NEEDS YOU", blockedOn.value.text || `asks for ${blockedOn.value.kind}`);
  if (isGone(liveness.value)) return gone(row, nowMs);
  if (liveness.value === "unreachable") return judged("PROBLEM", "does not answer");
  if (liveness.value === "stale") {
    return isBusy(row)
      ? judged("PROBLEM", `fell silent while ${activity.value}`)
      : judged("GONE", "fell silent");
  }
  if (row.stuckSinceMs !== null) {
    return judged("PROBLEM", `says that it is ${activity.value}, but nothing happens`);
  }
  if (isBusy(row)) return judged("WORKING", doing === "" ? activity.value : doing);
  const failed = outcome && (outcome.value === "failed" || outcome.value === "rejected");
  if (failed) return judged("PROBLEM", outcome.text ?? outcome.value);
  return judged("IDLE", outcome ? (outcome.text ?? outcome.value) : doing);
}

/** Whether it says that it is at something. */
function isBusy({ activity }: Pick<Row, "activity">): boolean {
  return activity.value !== "idle" && activity.value !== "unknown";
}

function gone({ liveness, reportedAtMs }: Seen, nowMs: number): Judged {
  const isNews = nowMs - reportedAtMs < NEWS_MS;
  const headline = liveness.value === "dead" && isNews ? "PROBLEM" : "GONE";
  return judged(headline, liveness.evidence.rule);
}

function judged(headline: Headline, why: string): Judged {
  return { headline, why };
}

/** What needs a person first, then by how long it has. */
export function byHeadline(a: Row, b: Row): number {
  return placeOf(a) - placeOf(b) || (a.id < b.id ? -1 : 1);
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
