import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test, vi } from "vitest";
import {
  findProcess,
  hasProcess,
  isRunning,
  readPs,
  runningPids,
  startedAtMs,
} from "./processes.ts";

test("this process is found, with its parent", () => {
  expect(findProcess(process.pid)).toMatchObject({ pid: process.pid, parent: process.ppid });
});

test("a number without a process is nobody", () => {
  for (const pid of [0, -1, 1.5, NaN, 2 ** 22 + 1]) expect(findProcess(pid)).toBeUndefined();
});

test("a process that was killed does not run, though nobody asked how it ended", async () => {
  const child = spawn(
    process.execPath,
    ["-e", "require('net').createServer().listen(0, '127.0.0.1')"],
    { stdio: "ignore" },
  );
  const { pid = 0 } = child;
  const found = await vi.waitFor(() => findProcess(pid) ?? expect.fail("not there yet"));
  expect(isRunning(found)).toBe(true);
  expect(hasProcess(pid)).toBe(true);
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await vi.waitFor(() => expect([isRunning(found), hasProcess(pid)]).toEqual([false, false]));
  await ended;
});

test("another process that was given the number is not believed", () => {
  const here = findProcess(process.pid);
  expect(here && isRunning({ ...here, start: `${here.start}0` })).toBe(false);
});

test("what ps prints is understood", () => {
  const line = "    1 Mon Nov  6 03:51:01 2026     Ss   /usr/local/bin/claude code\n";
  expect(readPs(7, line)).toEqual({
    pid: 7,
    parent: 1,
    name: "claude code",
    start: "Mon Nov 6 03:51:01 2026",
  });
  expect(readPs(7, "1 Mon Nov  6 03:51:01 2026 Z claude")).toBeUndefined();
  expect(readPs(7, "")).toBeUndefined();
});

test("a process started when it did, by the clock on the wall", async () => {
  const beforeMs = Date.now();
  const child = spawn(process.execPath, ["-e", "process.stdin.resume()"]);
  await once(child, "spawn");
  const found = findProcess(child.pid ?? 0);
  const startMs = found ? startedAtMs(found) : undefined;
  // The system tells the time of its own start in whole seconds.
  expect(Math.abs((startMs ?? 0) - beforeMs)).toBeLessThan(2_500);
  child.kill("SIGKILL");
  await once(child, "exit");
});

test.runIf(process.platform === "linux")("all that run are known by their numbers", () => {
  const pids = runningPids();
  expect([pids.has(process.pid), pids.has(1), pids.has(2 ** 22 + 1)]).toEqual([true, true, false]);
});
