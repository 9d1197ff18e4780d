import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readFrame } from "../derive/frames.ts";
import { openRecording, Recorder } from "./recording.ts";
import { replay } from "./replay.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rollcall-recording-"));
  path = join(folder, "talk.jsonl");
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Frames of a turn, a tenth of a second apart. */
const TALK: readonly (readonly ["client" | "agent", object])[] = [
  ["client", { id: 0, method: "initialize", params: { protocolVersion: 1 } }],
  ["agent", { id: 0, result: { protocolVersion: 1 } }],
  [
    "client",
    {
      id: 1,
      method: "session/new",
      params: {
        cwd: "/srv/app",
        mcpServers: [{ name: "x", env: [{ name: "TOKEN", value: "hush-hush" }], headers: [] }],
      },
    },
  ],
  ["agent", { id: 1, result: { sessionId: "S" } }],
  [
    "client",
    {
      id: 2,
      method: "session/prompt",
      params: {
        sessionId: "S",
        prompt: [{ type: "text", text: `API_KEY=abc ${"x".repeat(2000)}` }],
      },
    },
  ],
  ["agent", { id: 2, result: { stopReason: "end_turn" } }],
];

async function recorded(): Promise<void> {
  const recorder = new Recorder(openRecording(path));
  for (const [i, [sender, value]] of TALK.entries()) {
    const frame = readFrame({ jsonrpc: "2.0", ...value });
    if (frame) recorder.look(sender, frame, 1_000_000 + i * 100);
  }
  await recorder.close();
}

test("a recording is for its owner alone, without secrets and without what is long", async () => {
  await recorded();
  const text = readFileSync(path, "utf8");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(text).not.toContain("hush-hush");
  expect(text).not.toContain("API_KEY=abc");
  expect(text).toContain('"name":"TOKEN"');
  expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThan(1_000);
});

test("one that is there already is not written over", () => {
  writeFileSync(path, "mine");
  expect(() => new Recorder(openRecording(path))).toThrow(/is there already/);
});

test("replayed, it gives the timeline that was", async () => {
  await recorded();
  const steps: string[] = [];
  for await (const { atMs, record } of replay(path)) {
    if (record.sessionId !== null)
      steps.push(`${atMs - 1_000_000} ${record.status} ${record.message}`);
  }
  expect(steps).toEqual(["300 idle null", "400 thinking Thinking", "500 idle Done"]);
});

test("what is no recording is refused with its line, what is not there with its name", async () => {
  writeFileSync(path, '{"at":1,"from":"client","frame":{"kind":"x"}}\nnonsense\n');
  const all = async (file: string) => {
    for await (const _ of replay(file)) continue;
  };
  await expect(all(path)).rejects.toThrow(/no recording: line 2/);
  await expect(all(join(folder, "none"))).rejects.toThrow(/there is no such file/);
});
