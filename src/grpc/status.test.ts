import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { RollcallError } from "../core/errors.ts";
import { grpcStatusOf } from "./status.ts";

test("a refusal is told with its code and its reason", () => {
  expect(grpcStatusOf(new RollcallError("WRONG_STATE", "task 1 is dead"))).toEqual({
    code: status.FAILED_PRECONDITION,
    details: "task 1 is dead",
  });
});

test.each([new Error("password=hunter2"), new RollcallError("INTERNAL", "at line 7"), "thrown"])(
  "of a fault of this program nothing is told but that there was one: %s",
  (error) => {
    expect(grpcStatusOf(error)).toEqual({ code: status.INTERNAL, details: "internal error" });
  },
);
