/** All agents in one line: for a prompt, a status bar, the head of a table. */
import type { Headline } from "../../fleet/headline.ts";
import type { Output, Style } from "../terminal/output.ts";
import type { Agents } from "./agents.ts";

export const HEADLINE_STYLES: Readonly<Record<Headline, Style>> = {
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

/** "2 need you · 5 working · 3 idle"; nothing without agents. */
export function summary({ counts }: Agents, painter: Pick<Output, "paint">): string {
  return [...counts]
    .filter(([, count]) => count > 0)
    .map(([headline, count]) => {
      return painter.paint(HEADLINE_STYLES[headline], `${count} ${WORDS[headline](count)}`);
    })
    .join(" · ");
}
