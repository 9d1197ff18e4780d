import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { prose } from "../../../core/fields.ts";
import { FIELD } from "../../../core/limits.ts";
import { numberInHeader, policyOf, keptReason, tokenOf, wantedStatusOf } from "./from-proto.ts";
import {
  FencingTokenSchema,
  PolicySchema,
  type PolicyEffect,
  type TaskStatus,
} from "../gen/agentkeeper/v1/agentkeeper_pb.ts";
import type { GrpcCall } from "../../../net/grpc/service.ts";
import { LIBRARY } from "../../../core/by.ts";

describe("the reason of a failure", () => {
  test.each([
    ["\u001b[31mred\u0007\u009b", "[31mred"],
    [" line one\n\tline two\r\n", "line one\n\tline two"],
    ["", ""],
    ["é".repeat(2_000), "é".repeat(FIELD.reasonLength)],
    [`${"x".repeat(FIELD.reasonLength - 1)}😀`, "x".repeat(FIELD.reasonLength - 1)],
  ])("%j is kept as what the rules take", (said, kept) => {
    expect(keptReason(said)).toBe(kept);
    expect(prose("reason", keptReason(said), FIELD.reasonLength)).toBeUndefined();
  });
});

test("a token that no number here can be is refused", () => {
  const largest = BigInt(Number.MAX_SAFE_INTEGER);
  expect(tokenOf(create(FencingTokenSchema, { value: largest }))).toBe(Number.MAX_SAFE_INTEGER);
  const over = create(FencingTokenSchema, { value: largest + 1n });
  expect(() => tokenOf(over)).toThrow("token is 9007199254740992, which was never given out");
  expect(() => tokenOf(undefined)).toThrow("token is not set");
});

test("an effect that is neither is refused by the name of its field", () => {
  expect(() => policyOf(create(PolicySchema, { id: "p" }))).toThrow("policy.effect is not set");
  expect(() => policyOf(create(PolicySchema, { effect: 7 as PolicyEffect }))).toThrow(
    "policy.effect is 7",
  );
});

test("a status that does not exist is refused, one that no task ever has is not", () => {
  expect(wantedStatusOf(0)).toBeUndefined();
  expect(wantedStatusOf(4)).toBeNull();
  expect(() => wantedStatusOf(9 as TaskStatus)).toThrow("status is 9");
});

test.each(["", "-1", "1.5", "1e3", "0x10", "9007199254740992", "99999999999999999999"])(
  "%j is no number to come along with a call",
  (text) => {
    const call: GrpcCall = {
      by: LIBRARY,
      signal: new AbortController().signal,
      header: () => text,
      tell: () => undefined,
    };
    expect(() => numberInHeader(call, "rollcall-from-sequence")).toThrow(
      "rollcall-from-sequence is not a whole number",
    );
  },
);
