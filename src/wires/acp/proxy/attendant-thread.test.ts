import { expect, test, vi } from "vitest";
import { TestClock } from "../../../../test/support/engine/fixture.ts";
import { AttendantThread } from "./attendant-thread.ts";
import { FEED } from "./limits.ts";

const ENDED = { code: 0, signal: null };
const PORT = `import { parentPort as port, workerData as data } from "node:worker_threads";`;

/** A thread that does this. */
function running(script: string) {
  const clock = new TestClock();
  const onError = vi.fn();
  const interject = vi.fn(() => true);
  const program = new URL(`data:text/javascript,${encodeURIComponent(PORT + script)}`);
  const thread = new AttendantThread({ program, data: {}, interject, clock, onError });
  return { thread, clock, onError, interject };
}

test.each([
  [
    "that throws",
    1,
    `port.on("message", () => { throw new Error("a frame nobody thought of"); });`,
  ],
  ["that cannot be started", 1, `import "nowhere";`],
  ["that leaves", 0, `process.exit(3);`],
  ["that eats all memory", 1, `const all = []; for (;;) all.push(Array(1e6).fill(1.5));`],
])(
  "one %s is complained of, and bytes go on",
  { timeout: 60_000 },
  async (_, complaints, script) => {
    const { thread, onError } = running(script);
    thread.note("agent", Buffer.from("one\n"));
    await thread.close(ENDED);
    expect(onError).toHaveBeenCalledTimes(complaints);
    expect(() => thread.note("agent", Buffer.from("two\n"))).not.toThrow();
    await thread.close(ENDED);
  },
);

test("one that does not end is stopped, so that an editor does not wait", async () => {
  const { thread, clock } = running(`port.on("message", () => { for (;;); });`);
  const closed = thread.close(ENDED);
  await clock.advance(FEED.lastMs);
  await closed;
  expect(clock.timers).toBe(0);
});

test("a line is said only if everything that was forwarded was looked at", async () => {
  const { thread, clock, interject } = running(`
    let bytes = 0;
    port.on("message", (messages) => {
      for (const { kind, chunk } of messages) {
        if (kind === "ended") process.exit();
        if (kind !== "bytes") continue;
        bytes += chunk.length;
        port.postMessage({ line: Buffer.from(chunk).toString(), seenBytes: bytes });
      }
    });`);
  thread.note("agent", Buffer.from("outdated"));
  thread.note("agent", Buffer.from("in time"));
  await clock.advance(FEED.batchMs);
  await vi.waitFor(() => expect(interject).toHaveBeenCalled(), { timeout: 20_000 });
  await thread.close(ENDED);
  expect(interject.mock.calls).toEqual([["in time"]]);
});
