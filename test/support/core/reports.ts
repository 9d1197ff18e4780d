/** For tests: reports of few sources that say few things, picked by small numbers. */
import type { Facts, Report } from "../../../src/core/reports.ts";

const FACTS: readonly Facts[] = [
  { liveness: ruled("alive"), activity: ruled("working") },
  { liveness: ruled("alive"), activity: ruled("idle") },
  { liveness: ruled("alive"), question: ruled(asked("may I?")) },
  { liveness: ruled("alive"), question: ruled(asked("which one?")), activity: ruled("waiting") },
  { liveness: ruled("stale") },
  { liveness: ruled("exited") },
  { liveness: ruled("dead"), question: ruled(asked("may I?")) },
  {
    liveness: ruled("alive"),
    question: ruled(asked("may I?")),
    process: { pid: 7, startedAtMs: 0 },
  },
  { liveness: ruled("exited"), process: { pid: 7, startedAtMs: 0, hasEnded: true } },
];

function asked(text: string) {
  return { kind: "text", text, sinceMs: 0 } as const;
}

function ruled<const Value>(value: Value) {
  return { value, rule: "test" };
}

export interface Picked {
  readonly who: number;
  readonly what: number;
  /** Also when it was said: late ones and ones from the future are among them. */
  readonly order: number;
}

export function someReport({ who, what, order }: Picked): Report {
  const number = who % 4;
  return {
    alias: `test:${number}`,
    agentId: `agent-${number % 3}`,
    links: what % 3 === 0 ? [`test:${(number + 1) % 4}`] : [],
    order,
    reportedAtMs: order,
    ...(number % 2 === 0 && { ttlMs: 20_000 }),
    facts: FACTS[what % FACTS.length] ?? { liveness: ruled("unknown") },
  };
}
