/** An import that is cut off, before or after any of its writes, goes on and ends the same. */
import { expect, test } from "vitest";
import {
  contentsOf,
  copy,
  daemonFile,
  inMemory,
  multiply,
  runtimeFile,
} from "../../../../test/support/arcp/old-file.ts";
import { MemoryMedium, memoryStore } from "../../../log/memory/store.ts";
import type { Store } from "../../../log/store.ts";
import { importLedger } from "./import.ts";

const WRITES = ["append", "appendAll", "remove"];

/** Calls before each write, and after it. */
function watched(inner: Store, onWrite: (isWritten: boolean) => void): Store {
  const watch = <T extends object>(part: T): T =>
    new Proxy(part, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        const call = (...args: unknown[]): unknown => Reflect.apply(value, target, args);
        if (!WRITES.includes(String(name))) return call;
        return async (...args: unknown[]) => {
          onWrite(false);
          const result = await call(...args);
          onWrite(true);
          return result;
        };
      },
    });
  return { ...inner, log: watch(inner.log), streams: watch(inner.streams) };
}

test.each([
  ["of a runtime", runtimeFile],
  ["of a daemon", daemonFile],
])("the import of a file %s may be cut off at any write", async (_, oldFile) => {
  const file = oldFile();
  await multiply(file.path, 25);
  const original = memoryStore({ medium: await inMemory(file), shared: false });
  const again = async () => {
    const store = memoryStore({ medium: new MemoryMedium(), shared: false });
    await copy(original, store);
    return store;
  };
  let moments = 0;
  const whole = await again();
  await importLedger(
    watched(whole, () => void (moments += 1)),
    { node: "n" },
  );
  const expected = await contentsOf(whole);
  expect(Object.keys(expected).filter((stream) => stream.startsWith("arcp/"))).toEqual([]);

  // The first ones are batches; then one stream after the other is removed.
  for (let cut = 0; cut < moments; cut += cut < 50 ? 1 : 31) {
    const store = await again();
    let left = cut;
    const mortal = watched(store, () => {
      if (left === 0) throw new Error("cut off");
      left -= 1;
    });
    await expect(importLedger(mortal, { node: "n" })).rejects.toThrow("cut off");
    await importLedger(store, { node: "n" });
    expect(await contentsOf(store), `cut off at ${cut} of ${moments}`).toEqual(expected);
  }
});
