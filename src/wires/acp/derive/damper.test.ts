// "Display: waiting, idle, exit immediately; others after 250 ms stable, at most 4/s."
import { expect, test } from "vitest";
import { AcpDamper } from "./damper.ts";
import type { AcpRecord } from "./record.ts";
import { inWords, Play } from "../../../../test/support/acp/fixture.ts";

const base = new Play().open().record();

test("waiting, idle and the end are shown at once", () => {
  const damper = new AcpDamper();
  expect(damper.offer(record("idle"), 0)).toHaveLength(1);
  expect(damper.offer(record("waiting"), 1)).toHaveLength(1);
  expect(damper.offer(record("idle"), 2)).toHaveLength(1);
  expect(damper.offer({ ...record("idle"), state: "exited" }, 3)).toHaveLength(1);
  expect(damper.nextDeadlineMs).toBeUndefined();
});

test("a second question is shown at once, another wording of the first is not", () => {
  const damper = new AcpDamper();
  damper.offer({ ...record("waiting", "a"), pendingAsks: 1 }, 0);
  expect(damper.offer({ ...record("waiting", "b"), pendingAsks: 1 }, 1)).toEqual([]);
  expect(damper.offer({ ...record("waiting", "a (+1 more)"), pendingAsks: 2 }, 2)).toHaveLength(1);
});

test("anything else is shown when it held for 250 ms", () => {
  const damper = new AcpDamper();
  damper.offer(record("idle"), 0);
  expect(damper.offer(record("reading"), 1000)).toEqual([]);
  expect(damper.nextDeadlineMs).toBe(1250);
  expect(damper.tick(1249)).toEqual([]);
  expect(damper.tick(1250).map(inWords)).toEqual(["reading"]);
});

test("what is over before that is never seen", () => {
  const damper = new AcpDamper();
  damper.offer(record("thinking"), 0);
  damper.tick(250);
  damper.offer(record("reading"), 1000);
  expect(damper.offer(record("thinking"), 1001)).toEqual([]);
  expect(damper.nextDeadlineMs).toBeUndefined();
});

test("what flickers without end is shown as it is after a second", () => {
  const damper = new AcpDamper();
  damper.offer(record("idle"), 0);
  const shown = Array.from({ length: 20 }, (_, index) => {
    const status = index % 2 === 0 ? "reading" : "writing";
    return damper.offer(record(status), 1000 + index * 100).length;
  });
  expect(shown.indexOf(1)).toBe(10);
});

test("a message that changes all the time is shown at most four times a second", () => {
  const damper = new AcpDamper();
  const shown = Array.from({ length: 100 }, (_, index) =>
    damper.offer(record("writing", `line ${index}`), index * 10),
  ).flat();
  expect(shown.map(inWords)).toEqual(["writing: line 25", "writing: line 50", "writing: line 75"]);
});

test("each session has its own display", () => {
  const damper = new AcpDamper();
  damper.offer(record("thinking"), 0);
  damper.offer({ ...record("reading"), sessionId: "T" }, 0);
  expect(damper.tick(250).map(inWords)).toEqual(["thinking", "reading"]);
});

function record(status: AcpRecord["status"], message: string | null = null): AcpRecord {
  const state = status === "waiting" || status === "idle" ? status : "running";
  return { ...base, status, state, message };
}
