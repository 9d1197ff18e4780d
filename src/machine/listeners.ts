/** Which process listens at a port of loopback. Linux tells in /proc; elsewhere `lsof` is asked. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { findProcess, runningPids } from "./processes.ts";

export function listenerOf(port: number): number | undefined {
  return process.platform === "linux" ? fromProc(port) : fromLsof(port);
}

/** "  0: 0100007F:90DB 00000000:0000 0A … inode": the state 0A is listening. */
const LISTENING = "0A";
const INODE = 9;

function fromProc(port: number): number | undefined {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  const lines = readFileSync("/proc/net/tcp", "latin1").split("\n");
  const found = lines
    .map((line) => line.trim().split(/\s+/))
    .find(([, local, , state]) => local?.endsWith(`:${hex}`) && state === LISTENING);
  const inode = found?.[INODE];
  if (inode === undefined) return undefined;
  return [...runningPids()].find((pid) => holds(pid, `socket:[${inode}]`));
}

function holds(pid: number, file: string): boolean {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).some((name) => linkOf(`${folder}/${name}`) === file);
  } catch {
    // A process of another user, or gone by now.
    return false;
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

const LSOF_TIMEOUT_MS = 2000;

function fromLsof(port: number): number | undefined {
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  const words = ["-nP", `-iTCP@127.0.0.1:${port}`, "-sTCP:LISTEN", "-t"];
  const { stdout } = spawnSync("lsof", words, { encoding: "utf8", timeout: LSOF_TIMEOUT_MS });
  const pid = Number(stdout.split("\n")[0]);
  return findProcess(pid)?.pid;
}
