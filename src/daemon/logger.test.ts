import { expect, test } from "vitest";
import { createLogger } from "./logger.ts";

function capture(isTerminal: boolean, level: "info" | "silent" = "info") {
  const lines: string[] = [];
  const logger = createLogger({ level, isTerminal, write: (line) => lines.push(line) });
  return { lines, logger };
}

test("a machine gets one object a line", () => {
  const { lines, logger } = capture(false);
  logger.warn({ err: new Error("the disk is full"), node: "a" }, "could not lead");
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    level: 40,
    msg: "could not lead",
    node: "a",
    err: { message: "the disk is full" },
  });
});

test("a person gets one line of text, whatever is in it", () => {
  const { lines, logger } = capture(true);
  logger.warn({ err: new Error("first\nsecond\u001B[2J"), node: "a" }, "could not lead");
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d WARN could not lead: first second \[2J node=a\n$/);
});

test("what is below the level is not logged", () => {
  const { lines, logger } = capture(false);
  logger.debug("detail");
  capture(false, "silent").logger.fatal("nothing");
  expect(lines).toEqual([]);
});
