import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { RollcallError } from "../core/errors.ts";
import { grpcStatusOf, trailersOf } from "./status.ts";

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
