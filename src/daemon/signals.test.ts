import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { untilStopped } from "./signals.ts";

class FakeHost extends EventEmitter {
  readonly exits: number[] = [];

  exit(code: number): void {
    this.exits.push(code);
  }
}

const never = new Promise<never>(() => undefined);

test("the first signal closes the daemon and ends with 0", async () => {
  const host = new FakeHost();
  let closed = 0;
  const close = async () => void (closed += 1);
  const stopped = untilStopped({ close, failed: never }, host);
  host.emit("SIGTERM");
  expect(await stopped).toBe(0);
  expect(closed).toBe(1);
  expect(host.exits).toEqual([]);
  expect(host.eventNames()).toEqual([]);
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
])("a second %s leaves at once with %i", (signal, code) => {
  const host = new FakeHost();
  void untilStopped({ close: () => never, failed: never }, host);
  host.emit("SIGTERM");
  host.emit(signal);
  expect(host.exits).toEqual([code]);
});

test("a daemon that cannot go on ends with 1", async () => {
  const host = new FakeHost();
  const failed = Promise.resolve(new Error("the door broke"));
  expect(await untilStopped({ close: () => never, failed }, host)).toBe(1);
  expect(host.eventNames()).toEqual([]);
});
