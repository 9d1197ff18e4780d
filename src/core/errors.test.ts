import { expect, test } from "vitest";
import { codeOf, isErrorCode, RollcallError, wireCodes } from "./errors.ts";

// "Status codes: INVALID_ARGUMENT …, NOT_FOUND, PERMISSION_DENIED, FAILED_PRECONDITION for a wrong
// state, RESOURCE_EXHAUSTED for limits, UNAVAILABLE while it cannot commit."
test.each([
  ["INVALID_ARGUMENT", 3, 400],
  ["NOT_FOUND", 5, 404],
  ["NOT_HOLDER", 7, 403],
  ["PERMISSION_DENIED", 7, 403],
  ["WRONG_STATE", 9, 409],
  ["LIMIT_EXCEEDED", 8, 429],
  ["OUT_OF_RANGE", 11, 410],
  ["UNAVAILABLE", 14, 503],
] as const)("%s is status %i of gRPC and %i of HTTP", (code, grpc, http) => {
  expect(wireCodes(code)).toMatchObject({ grpc, http });
});

test("a caller is told whether trying again may help", () => {
  expect(wireCodes("UNAVAILABLE").retry).toBe("later");
  expect(wireCodes("LIMIT_EXCEEDED").retry).toBe("later");
  expect(wireCodes("SLOW_CONSUMER").retry).toBe("now");
  expect(wireCodes("NOT_HOLDER").retry).toBe("never");
});

test("an error keeps its code, its message and what caused it", () => {
  const cause = new Error("disk full");
  const error = new RollcallError("UNAVAILABLE", "cannot write", { cause });
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({ name: "RollcallError", code: "UNAVAILABLE", cause });
  expect(codeOf(error)).toBe("UNAVAILABLE");
});

test("what is not ours is a fault of the program", () => {
  expect(codeOf(new TypeError("x is not a function"))).toBe("INTERNAL");
  expect(codeOf("thrown text")).toBe("INTERNAL");
});

test("only the codes of the table are codes", () => {
  expect(isErrorCode("FENCED")).toBe(true);
  expect(isErrorCode("fenced")).toBe(false);
  expect(isErrorCode("toString")).toBe(false);
});
