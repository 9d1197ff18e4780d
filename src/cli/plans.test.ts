import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { person } from "../../test/support/cli/person.ts";
import { isAgreed } from "./plans.ts";

beforeEach(() => {
  const terminal = { isTTY: true } as typeof process.stdin;
  vi.spyOn(process, "stdin", "get").mockReturnValue(terminal);
});

afterEach(() => void vi.restoreAllMocks());

const PROPOSAL = { show: () => Promise.resolve(), question: "Install our hooks there?" };

// Fast fingers, a paste or a slow line bring the Enter along.
test.each(["y", "Y", "y\r", "yes\n"])("a change is agreed to by %j", async (keys) => {
  const { context, type } = person();
  const agreed = isAgreed(context, {}, PROPOSAL);
  await type(keys);
  expect(await agreed).toBe(true);
});

test.each(["n", "\r", "q"])("a change is not agreed to by %j", async (keys) => {
  const { context, type, shown } = person();
  const agreed = isAgreed(context, {}, PROPOSAL);
  await type(keys);
  expect(await agreed).toBe(false);
  expect(shown.join("")).toContain("Nothing was changed.");
});
