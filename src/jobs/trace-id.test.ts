import { expect, test } from "vitest";
import { newTraceId } from "./trace-id.ts";

test("trace ids are 32 hex digits, never all zeros, and all different", () => {
  const ids = Array.from({ length: 2_000 }, newTraceId);
  expect(new Set(ids).size).toBe(2_000);
  expect(ids.every((id) => /^[0-9a-f]{32}$/.test(id) && !/^0+$/.test(id))).toBe(true);
});
