import { expect, test } from "vitest";
import { encode } from "../core/events.ts";
import { rules } from "../core/rules.ts";
import { memoryStore } from "../log/memory/store.ts";
import { stateAt } from "./past.ts";
import { appendAt } from "../../test/support/log/append.ts";

const EVENTS = 5_000;

test("a look at the past lets others go on while it replays the log", async () => {
  const { log } = memoryStore();
  await log.open();
  const resumed = { type: "node.resumed", node: "one", unseenMs: 1 } as const;
  const entries = Array.from({ length: EVENTS }, (_, i) => encode(resumed, i));
  await appendAt(log, { entries }, 0);
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const { sequence } = await stateAt(log, rules, Infinity);
  isOver = true;
  expect(sequence).toBe(EVENTS);
  expect(turns).toBeGreaterThanOrEqual(EVENTS / 500);
});
