import { expect, test } from "vitest";
import { TURNSTILE } from "./limits.ts";
import { Turnstile } from "./turnstile.ts";

/** The next turn of the event loop. */
function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

test("so many pass in one turn of the event loop, the others in order afterwards", async () => {
  const turnstile = new Turnstile();
  const passed: number[] = [];
  const all = Array.from({ length: 2 * TURNSTILE.perTurn + 1 }, (_, i) => i);
  for (const i of all) void turnstile.pass().then(() => passed.push(i));
  for (const most of [1, 2]) {
    await Promise.resolve();
    expect(passed).toEqual(all.slice(0, most * TURNSTILE.perTurn));
    await turn();
  }
  expect(passed).toEqual(all);
  // It is at rest again: the next ones need not wait.
  await turn();
  for (const i of all) void turnstile.pass().then(() => passed.push(i));
  await Promise.resolve();
  expect(passed).toHaveLength(all.length + TURNSTILE.perTurn);
});

test("more than may wait are refused, and told to come back", async () => {
  const turnstile = new Turnstile();
  const fit = TURNSTILE.perTurn + TURNSTILE.waiting;
  const waiting = Array.from({ length: fit }, () => turnstile.pass());
  await expect(turnstile.pass()).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await expect(Promise.all(waiting)).resolves.toHaveLength(fit);
});
