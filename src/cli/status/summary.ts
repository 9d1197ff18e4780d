/** All agents in one line: for a prompt, a status bar, the head of a table. */
import type { Headline } from "../../wires/files/derive.ts";
import type { Output, Style } from "../terminal/output.ts";
import type { Agents } from "./agents.ts";

export const HEADLINE_STYLES: Readonly<Record<Headline, Style>> = {
  "needs you": "yellow",
  problem: "red",
  working: "green",
  idle: "dim",
  gone: "dim",
};

const WORDS: Readonly<Record<Headline, (count: number) => string>> = {
  "needs you": (count) => (count === 1 ? "needs you" : "need you"),
  problem: () => "failed",
  working: () => "working",
  idle: () => "idle",
  gone: () => "gone",
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
