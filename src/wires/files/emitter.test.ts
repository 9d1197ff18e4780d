import { spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { StatusEmitter, type StatusEmitterOptions } from "./emitter.ts";
import type { Status } from "./format.ts";
import { writeStatus } from "./write.ts";
import { NOW, NOW_MS, scratch } from "../../../test/support/files/fixture.ts";

vi.mock(import("./write.ts"), async (original) => {
  const real = await original();
  return { ...real, writeStatus: vi.fn(real.writeStatus) };
});

afterEach(() => {
  vi.useRealTimers();
});

function emitterIn(folder: string, options: Partial<StatusEmitterOptions> = {}): StatusEmitter {
  return new StatusEmitter({ agentName: "pi", folder, now: () => NOW_MS, ...options });
}

function written(emitter: StatusEmitter): Status {
  return JSON.parse(fs.readFileSync(emitter.path, "utf8")) as Status;
}

test("an agent is there as soon as it says so, and gone when it is closed", async () => {
  using folder = scratch();
  const emitter = emitterIn(folder.path, { meta: { model: "m" } });
  await emitter.flush();
  expect(written(emitter)).toEqual({
    schema_version: "agent-status/v1alpha1",
    agent_id: emitter.agentId,
    agent_name: "pi",
    runtime: { lifecycle: "running", updated_at: NOW, pid: process.pid, workspace: process.cwd() },
    x_meta: { model: "m" },
  });
  await emitter.close();
  await emitter.close();
  expect(fs.readdirSync(folder.path)).toEqual([]);
});

test("what is said in the very moment in which a write ends is written too", async () => {
  using folder = scratch();
  await using emitter = emitterIn(folder.path);
  await emitter.flush();
  const real = vi.mocked(writeStatus).getMockImplementation();
  vi.mocked(writeStatus).mockImplementationOnce(async (...words) => {
    const path = await (real ?? expect.fail("no writeStatus"))(...words);
    queueMicrotask(() => queueMicrotask(() => emitter.task({ state: "working" })));
    return path;
  });
  emitter.activity();
  await emitter.flush();
  expect(written(emitter).task?.state).toBe("working");
});

test("without waiting for the disk, what it says is there before anything else", async () => {
  using folder = scratch();
  await using emitter = emitterIn(folder.path, { isDurable: false });
  emitter.task({ state: "working" });
  await new Promise((resolve) => process.nextTick(resolve));
  expect(written(emitter).task?.state).toBe("working");
});

test("two runs of the same program have different ids", async () => {
  using folder = scratch();
  await using one = emitterIn(folder.path);
  await using two = emitterIn(folder.path);
  expect(one.agentId).not.toBe(two.agentId);
});

test("what it says is in the file: its goal, its task, its last activity", async () => {
  using folder = scratch();
  await using emitter = emitterIn(folder.path);
  emitter.goal("a fair scheduler");
  emitter.task({ state: "working", summary: "reading" });
  await emitter.flush();
  expect(written(emitter)).toMatchObject({
    goal: { summary: "a fair scheduler", updated_at: NOW, source: "initial-prompt" },
    task: { state: "working", summary: "reading", status_timestamp: NOW },
    runtime: { last_activity_at: NOW },
  });
  emitter.task(undefined);
  await emitter.flush();
  expect(written(emitter)).not.toHaveProperty("task");
  expect(written(emitter)).toHaveProperty("goal");
});

test("a state keeps its time whatever is done in it; another question is another", async () => {
  using folder = scratch();
  let nowMs = NOW_MS;
  await using emitter = emitterIn(folder.path, { now: () => nowMs });
  const since = async (state: "working" | "input-required", summary: string) => {
    emitter.task({ state, summary });
    await emitter.flush();
    const at = written(emitter).task?.status_timestamp ?? "";
    nowMs += 1_000;
    return (Date.parse(at) - NOW_MS) / 1_000;
  };
  expect(await since("working", "reading")).toBe(0);
  expect(await since("working", "writing")).toBe(0);
  expect(await since("input-required", "which?")).toBe(2);
  expect(await since("input-required", "which?")).toBe(2);
  expect(await since("input-required", "really?")).toBe(4);
  expect(await since("working", "writing")).toBe(5);
  expect(written(emitter).runtime.last_activity_at).toBe("2026-06-20T16:45:05Z");
});

test("it shows that it is alive every 20 seconds, without keeping the process", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  using folder = scratch();
  let nowMs = NOW_MS;
  await using emitter = emitterIn(folder.path, { now: () => nowMs });
  await emitter.flush();
  nowMs += 20_000;
  vi.advanceTimersByTime(19_999);
  await emitter.flush();
  expect(written(emitter).runtime.updated_at).toBe(NOW);
  vi.advanceTimersByTime(1);
  await emitter.flush();
  expect(written(emitter).runtime.updated_at).toBe("2026-06-20T16:45:20Z");
  expect(vi.getTimerCount()).toBe(1);
  await emitter.close();
  expect(vi.getTimerCount()).toBe(0);
});

test("a thousand things said in one breath are few writes, and the last one counts", async () => {
  using folder = scratch();
  await using emitter = emitterIn(folder.path);
  await emitter.flush();
  const rename = vi.spyOn(fs.promises, "rename");
  for (let i = 0; i < 1000; i += 1) {
    emitter.task({ state: "working", summary: `step ${i}` });
    emitter.activity();
  }
  await emitter.flush();
  expect(written(emitter).task?.summary).toBe("step 999");
  expect(rename.mock.calls.length).toBeLessThanOrEqual(2);
});

test("at the end it can leave word that it stopped", async () => {
  using folder = scratch();
  const emitter = emitterIn(folder.path, { atEnd: "stopped" });
  emitter.task({ state: "working" });
  await emitter.close();
  expect(written(emitter)).toMatchObject({ runtime: { lifecycle: "stopped" } });
  expect(written(emitter)).not.toHaveProperty("task");
});

test("a signal closes it", async () => {
  using folder = scratch();
  const abort = new AbortController();
  const emitter = emitterIn(folder.path, { signal: abort.signal });
  await emitter.flush();
  abort.abort();
  await vi.waitFor(() => expect(fs.existsSync(emitter.path)).toBe(false));
  emitter.task({ state: "working" });
  await emitter.flush();
  expect(fs.existsSync(emitter.path)).toBe(false);
});

test("a disk that fails is told to who wants to know, and never to the agent", async () => {
  using folder = scratch();
  const inTheWay = join(folder.path, "file");
  fs.writeFileSync(inTheWay, "");
  const errors: unknown[] = [];
  const options = { onError: (error: unknown) => void errors.push(error) };
  const emitter = emitterIn(join(inTheWay, "below"), options);
  emitter.goal("go on");
  await emitter.flush();
  await emitter.close();
  expect(errors[0]).toMatchObject({ code: "UNAVAILABLE" });
  // Without anybody who listens nothing happens at all.
  await emitterIn(join(inTheWay, "below")).close();
});

const LIBRARY = JSON.stringify(new URL("../../../dist/lib/status.js", import.meta.url).href);
/** An agent that ends as the words behind it say; it lives as long as its standard input. */
const PROGRAM = `
  import { StatusEmitter } from ${LIBRARY};
  const [, folder] = process.argv;
  const emitter = new StatusEmitter({ agentName: "pi", agentId: "child", folder });
  await emitter.flush();
  const raise = (signal) => { process.stdin.resume(); process.kill(process.pid, signal); };
`;

test.for([
  ["returns", "", 0, null],
  ["exits", "process.exit(3)", 3, null],
  ["throws", "throw new Error('bug')", 1, null],
  ["is asked to end", "raise('SIGTERM')", null, "SIGTERM"],
  ["is interrupted", "raise('SIGINT')", null, "SIGINT"],
  ["loses its terminal", "raise('SIGHUP')", null, "SIGHUP"],
  [
    "handles its signals itself",
    "process.on('SIGTERM', () => setImmediate(() => process.exit(9))); raise('SIGTERM')",
    9,
    null,
  ],
] as const)(
  "a process that %s leaves no file, and ends as it would have",
  async ([, end, code, signal]) => {
    using folder = scratch();
    const args = ["--input-type=module", "--eval", PROGRAM + end, folder.path];
    const child = spawn(process.execPath, args, { stdio: ["pipe", "ignore", "ignore"] });
    expect(await once(child, "close")).toEqual([code, signal]);
    expect(fs.readdirSync(folder.path)).toEqual([]);
  },
);

/** As the package signal-exit has it, which most command lines load: whoever is alone ends it. */
const SIGNAL_EXIT = `
  process.on("SIGTERM", function end() {
    if (process.listenerCount("SIGTERM") > 1) return;
    process.off("SIGTERM", end);
    process.kill(process.pid, "SIGTERM");
  });
`;

test.each([
  ["where another library, too, leaves that to all others", SIGNAL_EXIT, 1],
  [
    "that it handled once before",
    `process.once("SIGTERM", () => setImmediate(() => setImmediate(() => raise("SIGTERM"))));`,
    0,
  ],
])("a process ends by a signal %s", async (...[, other, left]) => {
  using folder = scratch();
  const program = `${PROGRAM}${other} raise("SIGTERM")`;
  const args = ["--input-type=module", "--eval", program, folder.path];
  const child = spawn(process.execPath, args, {
    stdio: ["pipe", "ignore", "ignore"],
    timeout: 5000,
    killSignal: "SIGKILL",
  });
  expect(await once(child, "close")).toEqual([null, "SIGTERM"]);
  // The other library ends it at once: that its process is gone says the rest.
  expect(fs.readdirSync(folder.path)).toHaveLength(left);
});
