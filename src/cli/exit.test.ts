import { expect, test } from "vitest";
import { RollcallError } from "../core/errors.ts";
import { describeError, exitCodeOf, exitCodeOfParser, startExitCodeOf } from "./exit.ts";
import { Output } from "./terminal/output.ts";

const output = new Output({ write: () => true }, {});

test.each([
  ["NOT_FOUND", 1],
  ["INVALID_ARGUMENT", 2],
  ["UNAVAILABLE", 3],
  ["NOT_HOLDER", 4],
  ["PERMISSION_DENIED", 4],
  ["WRONG_STATE", 4],
  ["LOCKED", 4],
  ["INTERNAL", 70],
] as const)("%s ends with %i", (code, exit) => {
  expect(exitCodeOf(new RollcallError(code, "…"))).toBe(exit);
});

test("what nobody expected ends as a fault of the program", () => {
  expect(exitCodeOf(new TypeError("x is not a function"))).toBe(70);
});

test("a daemon that cannot start was refused: no daemon is missing", () => {
  expect(startExitCodeOf(new RollcallError("UNAVAILABLE", "the port is taken"))).toBe(4);
  expect(startExitCodeOf(new RollcallError("INVALID_ARGUMENT", "no such setting"))).toBe(2);
});

test("what the parser cannot make sense of is wrong usage", () => {
  expect([-5, -4, -2, 0, 3].map(exitCodeOfParser)).toEqual([2, 2, 70, 0, 3]);
});

test("an error is one line, a missing daemon comes with the way to start one", () => {
  const refused = new RollcallError("NOT_HOLDER", "a does not hold b");
  expect(describeError(refused, output, {})).toBe("error: a does not hold b");
  const missing = new RollcallError("UNAVAILABLE", "no daemon answers at http://x");
  expect(describeError(missing, output, {})).toContain("start one with `rollcall up`");
});

test("an unexpected error hides its stack until asked for it, and its escapes always", () => {
  const error = new Error("broke \u001b[31mbadly", { cause: new Error("the disk") });
  expect(describeError(error, output, {})).toBe(
    "internal error: broke badly\nmore: run it again with --verbose",
  );
  const verbose = describeError(error, output, { ROLLCALL_DEBUG: "1" });
  expect(verbose).toContain("exit.test.ts");
  expect(verbose).toContain("caused by Error: the disk");
  expect(verbose).not.toContain("\u001b");
});

test("an error is broken between words where the terminal is narrow", () => {
  const narrow = new Output({ isTTY: true, columns: 24, write: () => true }, { NO_COLOR: "1" });
  const refused = new RollcallError("NOT_HOLDER", "agent-1 does not hold the lease deploy");
  expect(describeError(refused, narrow, {})).toBe("error: agent-1 does not\nhold the lease deploy");
});
