// Conversations of real agents, as they were captured, and the timeline that follows from each. A
// line has its time, who spoke (client or agent) and the message, of an update (U) only that.
import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { AcpDamper } from "../../src/wires/acp/derive/damper.ts";
import { AcpDeriver } from "../../src/wires/acp/derive/deriver.ts";
import { AcpLineReader } from "../../src/wires/acp/derive/reader.ts";
import type { AcpRecord } from "../../src/wires/acp/derive/record.ts";
import { inWords } from "../support/acp/fixture.ts";

test("the example agent of the SDK", () => {
  expect(timeline("example-agent", "9891")).toEqual([
    "0.202 idle",
    "0.203 thinking: Thinking",
    "0.205 thinking: Responding",
    "1.208 reading: Reading project files",
    "2.210 thinking: Responding",
    "4.214 writing: Modifying critical configuration file",
    "4.218 waiting: Modifying critical configuration file",
    "6.698 writing: Modifying critical configuration file",
    "6.701 thinking: Responding",
    "7.705 idle: Done",
  ]);
});

test("the agent of both versions, in v2: no idle until it says so", () => {
  expect(timeline("v2-agent", "9891")).toEqual([
    "0.003 idle",
    "0.226 thinking: Thinking",
    "0.481 thinking: Responding",
    "0.481 idle: Done",
  ]);
});

test("opencode: it asks while the tool is in progress, and both sides use the id 2", () => {
  expect(timeline("opencode", "9891")).toEqual([
    "3.300 idle",
    "3.645 thinking: Thinking",
    "4.910 thinking: todowrite",
    "5.000 thinking: Thinking",
    "5.245 reading: read",
    "5.246 thinking: Thinking",
    "5.552 writing: write",
    "5.559 waiting: app/out.txt",
    "5.560 writing: app/out.txt",
    "5.563 thinking: Thinking",
    "5.970 writing: bash",
    "6.020 writing: echo done",
    "6.040 waiting: echo done",
    "6.100 writing: echo done",
    "6.112 thinking: Thinking",
    "6.640 idle: Done",
  ]);
});

test("on a display its read of one millisecond is not seen, and its questions are at once", () => {
  expect(timeline("opencode", "9891", { isDamped: true })).toEqual([
    "3.300 idle",
    "3.895 thinking: Thinking",
    "4.910 thinking: todowrite",
    "5.160 thinking: Thinking",
    "5.559 waiting: app/out.txt",
    "5.813 thinking: Thinking",
    "6.040 waiting: echo done",
    "6.362 thinking: Thinking",
    "6.640 idle: Done",
  ]);
});

const RECORDED = [
  "gemini-0.61",
  "qwen-0.15",
  "qwen-0.24",
  "opencode-1.18",
  "claude-code-acp",
  "codex-acp",
];

test.each(RECORDED)(
  "%s: a slow answer, allowed, rejected, cancelled, failed; `-u` writes it anew",
  async (name) => {
    const words = timeline(name, "9891").map((line) => line.replace(/^\S+ /, ""));
    await expect(`${words.join("\n")}\n`).toMatchFileSnapshot(`acp/${name}.timeline.txt`);
  },
);

test.each(["example-agent", "v2-agent", "opencode"])(
  "the same frames give the same records",
  (frames) => {
    const [first, second] = [records(frames), records(frames)];
    expect(first).toEqual(second);
  },
);

function timeline(name: string, sessionId: string, { isDamped = false } = {}): readonly string[] {
  const damper = new AcpDamper();
  const shown: string[] = [];
  const show = (seconds: number, record: AcpRecord): void => {
    const words = inWords(record);
    if (record.sessionId === sessionId && !shown.at(-1)?.endsWith(` ${words}`)) {
      shown.push(`${seconds.toFixed(3)} ${words}`);
    }
  };
  for (const { seconds, record } of records(name)) {
    const nowMs = Math.round(seconds * 1000);
    if (!isDamped) {
      show(seconds, record);
      continue;
    }
    for (;;) {
      const nextMs = damper.nextDeadlineMs;
      if (nextMs === undefined || nextMs > nowMs) break;
      for (const due of damper.tick(nextMs)) show(nextMs / 1000, due);
    }
    for (const due of damper.offer(record, nowMs)) show(seconds, due);
  }
  return shown;
}

function records(name: string): readonly Told[] {
  return recordsOf(linesOf(name));
}

function linesOf(name: string): readonly string[] {
  return readFileSync(new URL(`acp/${name}.txt`, import.meta.url), "utf8")
    .trim()
    .split("\n");
}

interface Told {
  readonly seconds: number;
  readonly record: AcpRecord;
}

/** In place of the lines that were lost stands an empty one. */
function recordsOf(lines: readonly string[]): readonly Told[] {
  const deriver = new AcpDeriver();
  const readers = { C: new AcpLineReader(), A: new AcpLineReader() };
  let seconds = 0;
  const at = (record: AcpRecord) => ({ seconds, record });
  return lines.flatMap((line): readonly Told[] => {
    if (line === "") return deriver.lost(Math.round(seconds * 1000)).map(at);
    const [, when = "", side = "", isUpdate, message = ""] =
      /^(\S+) ([CA]) (U )?(.*)$/.exec(line) ?? [];
    seconds = Number(when);
    const params = `{"sessionId":"9891","update":${message}}`;
    const json = isUpdate ? `{"method":"session/update","params":${params}}` : message;
    const frames = readers[side === "C" ? "C" : "A"].push(Buffer.from(`${json}\n`));
    const from = side === "C" ? "client" : "agent";
    return frames.flatMap((frame) =>
      deriver.observe(from, frame, Math.round(seconds * 1000)).map(at),
    );
  });
}

/** A turn of its own that comes to its end: later than all that was said before. */
const ENDING = [
  '900 C {"id":"end","method":"session/prompt","params":{"sessionId":"9891","prompt":[]}}',
  '901 A {"id":"end","result":{"stopReason":"end_turn"}}',
];

/** A pipe doubles and reorders nothing; but who reads along may be too slow, and is told so. */
test.each(RECORDED)("%s: lost frames never outlive the end of a later turn", (name) => {
  const lines = linesOf(name);
  const opened = lines.findIndex((line) => line.includes('"result":{"sessionId"')) + 1;
  const cues = lines.slice(opened);
  const fates = fc.array(fc.nat({ max: 3 }), { maxLength: cues.length, size: "max" });
  fc.assert(
    fc.property(fates, (chosen) => {
      const told = chosen.map((fate, i) => (fate === 0 ? "" : (cues[i] ?? "")));
      const shown = recordsOf([...lines.slice(0, opened), ...told, "", ...ENDING]);
      const last = shown.findLast(({ record }) => record.sessionId === "9891");
      expect(last && inWords(last.record)).toMatch(/^idle/);
    }),
    { numRuns: 200 },
  );
});
