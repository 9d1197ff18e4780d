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
  let nowMs = 0;
  void untilStopped({ close: () => never, failed: never }, host, () => nowMs);
  host.emit("SIGTERM");
  nowMs += 1000;
  host.emit(signal);
  expect(host.exits).toEqual([code]);
});

test("one Ctrl-C that arrives twice closes in order", () => {
  const host = new FakeHost();
  void untilStopped({ close: () => never, failed: never }, host, () => 0);
  host.emit("SIGINT");
  host.emit("SIGINT");
  expect(host.exits).toEqual([]);
});

test("a daemon that cannot go on ends with 1", async () => {
  const host = new FakeHost();
  const failed = Promise.resolve(new Error("the door broke"));
  expect(await untilStopped({ close: () => never, failed }, host)).toBe(1);
  expect(host.eventNames()).toEqual([]);
});
