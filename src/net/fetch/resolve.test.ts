import { expect, test, vi } from "vitest";
import { limitedLookup } from "./resolve.ts";

const { signal } = new AbortController();

test("a name of this machine means this machine", async () => {
  const addresses = await limitedLookup()("localhost", signal);
  expect(addresses.every((address) => address === "127.0.0.1" || address === "::1")).toBe(true);
  expect(addresses.length).toBeGreaterThan(0);
});

test("two names are looked up at once; one that nobody waits for any more is not", async () => {
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  const resolve = limitedLookup(async (host) => {
    asked.push(host);
    await new Promise<void>((done) => void answers.push(done));
    return [host];
  });
  const late = new AbortController();
  const first = [resolve("a", signal), resolve("b", signal)];
  const gone = resolve("c", late.signal);
  const last = resolve("d", signal);
  expect(asked).toEqual(["a", "b"]);
  late.abort(new Error("late"));
  answers[0]?.();
  await expect(gone).rejects.toThrow("late");
  await vi.waitFor(() => expect(asked).toEqual(["a", "b", "d"]));
  for (const answer of answers) answer();
  await expect(Promise.all([...first, last])).resolves.toEqual([["a"], ["b"], ["d"]]);
});

test("a name that means nothing makes room for the next", async () => {
  const resolve = limitedLookup(async (host) => {
    if (host === "bad") throw new Error("no such name");
    return [host];
  });
  const bad = Array.from({ length: 5 }, async () => resolve("bad", signal));
  const results = await Promise.allSettled([...bad, resolve("good", signal)]);
  expect(results.map(({ status }) => status)).toEqual([
    ...Array.from({ length: 5 }, () => "rejected"),
    "fulfilled",
  ]);
});
