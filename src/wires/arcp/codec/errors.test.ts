import { expect, test } from "vitest";
import { RollcallError } from "../../../core/errors.ts";
import {
  arcpCodeOf,
  arcpError,
  arcpErrorOf,
  errorCodeOf,
  isArcpCode,
  isRetryable,
} from "./errors.ts";

const CODES = [
  "UNAUTHENTICATED INVALID_REQUEST AGENT_NOT_AVAILABLE AGENT_VERSION_NOT_AVAILABLE DUPLICATE_KEY",
  "JOB_NOT_FOUND PERMISSION_DENIED LEASE_SUBSET_VIOLATION LEASE_EXPIRED BUDGET_EXHAUSTED",
  "CANCELLED TIMEOUT HEARTBEAT_LOST RESUME_WINDOW_EXPIRED INTERNAL_ERROR",
].flatMap((line) => line.split(" "));

// "error-code count is exactly 15"
test("there are fifteen codes, and two of them may be tried again", () => {
  const known = CODES.filter(isArcpCode);
  expect(known).toHaveLength(15);
  expect(known.filter(isRetryable)).toEqual(["TIMEOUT", "INTERNAL_ERROR"]);
  expect(isArcpCode("toString")).toBe(false);
});

test("each code has its own of ours, and comes back as itself", () => {
  const ours = CODES.map(errorCodeOf);
  expect(new Set(ours).size).toBe(15);
  expect(ours.map(arcpCodeOf)).toEqual(CODES);
});

// "Unknown error code in a payload maps to InternalError"
test("a code nobody knows is a fault of the runtime", () => {
  expect(errorCodeOf("E_WHATEVER")).toBe("INTERNAL");
  expect(errorCodeOf("constructor")).toBe("INTERNAL");
});

test("an error is never without words, and never long", () => {
  expect(arcpError("LEASE_EXPIRED", "")).toEqual({
    code: "LEASE_EXPIRED",
    message: "lease expired",
    retryable: false,
  });
  expect(arcpError("CANCELLED", "x".repeat(5_000)).message).toHaveLength(1_024);
  expect("details" in arcpError("CANCELLED", "x")).toBe(false);
});

// "Never put validator internals or stack text in message"
test("what was thrown is told by name, unless it is ours or an agent's", () => {
  const ours = new RollcallError("BUDGET_EXHAUSTED", "the budget in USD is used up");
  expect(arcpErrorOf(ours)).toMatchObject({ code: "BUDGET_EXHAUSTED", message: ours.message });
  const theirs = new TypeError("secret is not a function");
  expect(arcpErrorOf(theirs)).toEqual(arcpError("INTERNAL_ERROR", "internal error"));
  expect(arcpErrorOf(theirs, true).message).toBe("secret is not a function");
  expect(arcpErrorOf("text")).toMatchObject({ code: "INTERNAL_ERROR", retryable: true });
});
