import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { RollcallError } from "../../core/errors.ts";
import { errorIn, grpcStatusOf, trailersOf } from "./status.ts";

test("a refusal is told with its code and its reason", () => {
  expect(grpcStatusOf(new RollcallError("WRONG_STATE", "task 1 is dead"))).toEqual({
    code: status.FAILED_PRECONDITION,
    name: "WRONG_STATE",
    details: "task 1 is dead",
  });
});

test.each([new Error("password=hunter2"), new RollcallError("INTERNAL", "at line 7"), "thrown"])(
  "of a fault of this program nothing is told but that there was one: %s",
  (error) => {
    const { code, details } = grpcStatusOf(error);
    expect({ code, details }).toEqual({ code: status.INTERNAL, details: "internal error" });
  },
);

test("a reason is a header, whatever it says", () => {
  const details = 'no task "ü\r\nx-evil: 1" at 100%';
  const trailers = trailersOf({ code: 5, name: "NOT_FOUND", details });
  expect(trailers).toEqual({
    "grpc-status": "5",
    "grpc-message": 'no task "%C3%BC%0D%0Ax-evil: 1" at 100%25',
    "rollcall-code": "NOT_FOUND",
  });
});

function heard(trailers: Readonly<Record<string, string>>): RollcallError | undefined {
  return errorIn((name) => trailers[name]);
}

test("what went well is no error", () => {
  expect(heard({ "grpc-status": "0", "rollcall-code": "NOT_HOLDER" })).toBeUndefined();
});

test("the very code is taken where it came along", () => {
  const error = heard({ "grpc-status": "7", "rollcall-code": "NOT_HOLDER", "grpc-message": "no" });
  expect(error).toMatchObject({ code: "NOT_HOLDER", message: "no" });
});

test.each([
  ["7", undefined, "PERMISSION_DENIED"],
  ["8", "NO_SUCH_CODE", "LIMIT_EXCEEDED"],
  ["9", undefined, "WRONG_STATE"],
  ["14", "constructor", "UNAVAILABLE"],
  ["99", undefined, "INTERNAL"],
  ["nonsense", undefined, "INTERNAL"],
])("status %s beside the code %s is %s", (grpcStatus, code, expected) => {
  const error = heard({ "grpc-status": grpcStatus, ...(code && { "rollcall-code": code }) });
  expect(error?.code).toBe(expected);
});

test.each([
  ["caf%C3%A9 100%25", "café 100%"],
  ["100% sure", "100% sure"],
  ["", "the call failed with status 5"],
])("the message %j reads %j", (message, expected) => {
  expect(heard({ "grpc-status": "5", "grpc-message": message })?.message).toBe(expected);
});
