/** How the fleet looks in a terminal: what it is called, in which colour, and how old. */
import { HEADLINES, type Headline } from "../../fleet/headline.ts";
import type { Counts } from "../../fleet/census.ts";
import type { Output, Style } from "../terminal/output.ts";

export const HEADLINE_COLOURS: Readonly<Record<Headline, Style>> = {
  "NEEDS YOU": "yellow",
  PROBLEM: "red",
  WORKING: "green",
  IDLE: "dim",
  GONE: "dim",
};

const WORDS: Readonly<Record<Headline, (count: number) => string>> = {
  "NEEDS YOU": (count) => (count === 1 ? "needs you" : "need you"),
  PROBLEM: (count) => (count === 1 ? "problem" : "problems"),
  WORKING: () => "working",
  IDLE: () => "idle",
  GONE: () => "gone",
};

/** The headlines of agents that are still here. */
const HERE = HEADLINES.filter((each) => each !== "GONE");

/** "2 need you · 5 working · 3 idle", of those headlines that are told; nothing without agents. */
export function summary(
  { counts }: { readonly counts: Counts },
  painter?: Pick<Output, "paint">,
  told: readonly Headline[] = HERE,
): string {
  return told
    .filter((each) => counts[each] > 0)
    .map((each) => {
      const words = `${counts[each]} ${WORDS[each](counts[each])}`;
      return painter ? painter.paint(HEADLINE_COLOURS[each], words) : words;
    })
    .join(" · ");
}
