import { expect, test } from "vitest";
import { TestClock } from "../../../../test/support/engine/fixture.ts";
import { readFrame } from "./frames.ts";
import { AcpObserver } from "./observer.ts";
import type { AcpRecord } from "./record.ts";

const INITIALIZE = { id: 0, method: "initialize", params: { protocolVersion: 1 } };

test("silence is told when it is due, without a frame", async () => {
  const { clock, records, observer } = watched();
  await using _ = observer;
  say(observer, INITIALIZE);
  await clock.advance(10_000);
  expect(records.at(-1)).toMatchObject({ message: "Starting agent", quietSeconds: 10 });
  await clock.advance(20_000);
  expect(records.at(-1)).toMatchObject({ stalled: true, quietSeconds: 30 });
});

test("a sleep of the machine is nobody's silence", async () => {
  const { clock, records, observer } = watched();
  await using _ = observer;
  say(observer, INITIALIZE);
  await clock.advance(9000);
  clock.stepWall(8 * 3600 * 1000);
  await clock.advance(2000);
  expect(records.at(-1)).toMatchObject({ stalled: false, quietSeconds: 0 });
  await clock.advance(10_000);
  expect(records.at(-1)).toMatchObject({ stalled: false, quietSeconds: 10 });
});

test("what is closed says nothing more, leaves no timer, and may be closed again", async () => {
  const { clock, records, observer } = watched();
  say(observer, INITIALIZE);
  expect(clock.timers).toBe(1);
  await observer.close();
  await observer.close();
  const count = records.length;
  say(observer, { id: 0, result: { protocolVersion: 1 } });
  observer.exited({ code: 0 });
  expect(clock.timers).toBe(0);
  expect(records).toHaveLength(count);
});

test("a timer is not wound again for every frame", () => {
  const { clock, observer } = watched();
  const after = clock.after.bind(clock);
  let wound = 0;
  clock.after = (delayMs, call) => {
    wound++;
    return after(delayMs, call);
  };
  say(observer, INITIALIZE);
  for (let index = 0; index < 100; index++) say(observer, { method: "_x/alive", params: {} });
  expect(wound).toBe(1);
});

function watched(): { clock: TestClock; records: AcpRecord[]; observer: AcpObserver } {
  const clock = new TestClock();
  const records: AcpRecord[] = [];
  const observer = new AcpObserver((record) => records.push(record), { clock, isRaw: true });
  return { clock, records, observer };
}

function say(observer: AcpObserver, message: object): void {
  const frame = readFrame(message);
  if (frame === undefined) throw new Error("no frame");
  observer.observe("method" in message && "id" in message ? "client" : "agent", frame);
}
