import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test, vi } from "vitest";
import { processes } from "./processes.ts";

test("a process is there from its start to its end, and began when it did", async () => {
  const beforeMs = Date.now();
  const child = spawn(process.execPath, ["-e", "process.stdin.resume()"]);
  await once(child, "spawn");
  const pid = child.pid ?? 0;
  expect(processes.isThere(pid)).toBe(true);
  const startedAtMs = processes.startedAtMs(pid) ?? 0;
  // The system tells the time of its own start in whole seconds.
  expect(Math.abs(startedAtMs - beforeMs)).toBeLessThan(2_500);
  child.kill("SIGKILL");
  await once(child, "exit");
  await vi.waitFor(() => expect(processes.isThere(pid)).toBe(false));
  expect(processes.startedAtMs(pid)).toBeUndefined();
});

test("the same process always tells the same time", () => {
  expect(processes.startedAtMs(process.pid)).toBe(processes.startedAtMs(process.pid));
});

test("a process of somebody else is there", () => {
  expect(processes.isThere(1)).toBe(true);
});
