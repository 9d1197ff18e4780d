import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { until } from "../../test/tour/until.ts";
import { MAX_PROCESS_FILES } from "./limits.ts";
import { ProcessFiles } from "./process-files.ts";
import { findProcess } from "./processes.ts";

function sleeper() {
  const child = spawn("sleep", ["600"]);
  return { child, pid: child.pid ?? 0 };
}

/** How many files of processes this one has open. */
function openFiles(): number {
  return readdirSync("/proc/self/fd").filter((name) => {
    try {
      return /^\/proc\/\d+\/stat$/.test(readlinkSync(`/proc/self/fd/${name}`));
    } catch {
      return false;
    }
  }).length;
}

test("a process is the one that a new look would find, however often it is asked for", () => {
  using files = new ProcessFiles();
  const { pid, start } = findProcess(process.pid) ?? expect.fail();
  for (let i = 0; i < 3; i += 1) expect(files.find(pid)).toMatchObject({ pid, start });
  expect(files.find(2 ** 22 + 1)).toBeUndefined();
  expect(files.find(-1)).toBeUndefined();
});

test("one that ended is not found any more", async () => {
  using files = new ProcessFiles();
  const { child, pid } = sleeper();
  expect(files.find(pid)?.pid).toBe(pid);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(files.find(pid)).toBeUndefined();
});

test.runIf(process.platform === "linux")("one that is dead and not buried is over", async () => {
  using files = new ProcessFiles();
  // The shell becomes a program that never asks how its child ended.
  const parent = spawn("sh", ["-c", "sleep 600 & echo $!; exec sleep 600"]);
  const [told] = (await once(parent.stdout, "data")) as [Buffer];
  const pid = Number(told.toString());
  expect(files.find(pid)?.pid).toBe(pid);
  process.kill(pid, "SIGKILL");
  await until("its end", () => files.find(pid) === undefined || undefined);
  parent.kill("SIGKILL");
});

test.runIf(process.platform === "linux")("no more files are open than are wanted", () => {
  const before = openFiles();
  const files = new ProcessFiles();
  const sleepers = Array.from({ length: 3 }, sleeper);
  const pids = sleepers.map(({ pid }) => pid);
  for (const pid of [...pids, ...pids]) expect(files.find(pid)?.pid).toBe(pid);
  expect(openFiles() - before).toBe(3);
  files.keepOnly(new Set(pids.slice(1)));
  expect(openFiles() - before).toBe(2);
  sleepers[1]?.child.kill("SIGKILL");
  files[Symbol.dispose]();
  files[Symbol.dispose]();
  expect(openFiles() - before).toBe(0);
  for (const { child } of sleepers) child.kill("SIGKILL");
});

test.runIf(process.platform === "linux")("of very many, some are looked for anew", async () => {
  const before = openFiles();
  using files = new ProcessFiles();
  const many = MAX_PROCESS_FILES + 2;
  const script = `for i in $(seq ${many}); do sleep 600 & echo $!; done; wait`;
  const parent = spawn("sh", ["-c", script]);
  let told = "";
  parent.stdout.on("data", (part: Buffer) => (told += part.toString()));
  const pids = await until("all of them", () => {
    const read = told.split("\n").filter(Boolean).map(Number);
    return read.length === many ? read : undefined;
  });
  for (const pid of [...pids, ...pids]) expect(files.find(pid)?.pid).toBe(pid);
  expect(openFiles() - before).toBe(MAX_PROCESS_FILES);
  for (const pid of pids) process.kill(pid, "SIGKILL");
  await once(parent, "exit");
  for (const pid of pids) expect(files.find(pid)).toBeUndefined();
  expect(openFiles() - before).toBe(0);
});
