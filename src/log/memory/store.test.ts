import { describe, expect, test } from "vitest";
import { storeConformance } from "../../../test/support/log/conformance.ts";
import { MemoryMedium, memoryStore } from "./store.ts";
import { appendAt } from "../../../test/support/log/append.ts";

const remove = () => Promise.resolve();

describe("a memory store of its own", () => {
  const medium = () => Promise.resolve({ connect: () => memoryStore(), remove });
  const cases = storeConformance({ medium, isDurable: false, isShared: false });
  test.each(cases)("%s", (_title, run) => run());

  test("is nobody else's", async () => {
    const [one, other] = [memoryStore(), memoryStore()];
    await one.log.open();
    await appendAt(one.log, { entries: ["mine"] }, 0);
    expect(one.log.shared).toBe(false);
    expect(await other.log.open()).toMatchObject({ head: 0, oldest: 1 });
  });
});

describe("memory stores on one medium", () => {
  const medium = () => {
    const shared = new MemoryMedium();
    return Promise.resolve({ connect: () => memoryStore({ medium: shared }), remove });
  };
  const cases = storeConformance({ medium, isDurable: true, isShared: true });
  test.each(cases)("%s", (_title, run) => run());
});
