/**
 * Every session that lives has one sidecar. Its hooks see to it: none there, or one that was
 * killed, and the next hook starts another. A file names it; the last writer of
 * that file wins, and a sidecar that reads another's name in it exits.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import { hasProcess } from "../../machine/processes.ts";
import type { HookHost } from "./fact.ts";
import { SIDECAR } from "./limits.ts";

export interface Attended {
  readonly folder: string;
  readonly host: HookHost;
  readonly sessionId: string;
}

export interface Badge {
  /** Which sidecar it is. */
  readonly token: string;
  /** Its process, once it runs. */
  readonly pid?: number;
}

export function badgePath(folder: string): string {
  return join(folder, "sidecar.json");
}

export function readBadge(folder: string): Badge | undefined {
  try {
    return JSON.parse(fs.readFileSync(badgePath(folder), "utf8")) as Badge;
  } catch {
    return undefined;
  }
}

export function attend({ folder, host, sessionId }: Attended): void {
  const token = `${process.pid}-${process.hrtime.bigint()}`;
  // Only one that is out of date: another hook may have written its own just now.
  if (attendanceOf(folder) === "lost") fs.rmSync(badgePath(folder), { force: true });
  if (claim(folder, { token })) start([host, sessionId, token]);
}

/** Whether the place was free. */
export function claim(folder: string, badge: Badge): boolean {
  try {
    fs.writeFileSync(badgePath(folder), JSON.stringify(badge), { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** There or on its way, never there, or gone without having said so. */
export function attendanceOf(folder: string): "present" | "absent" | "lost" {
  const stats = fs.statSync(badgePath(folder), { throwIfNoEntry: false });
  if (!stats) return "absent";
  const ageMs = Date.now() - stats.mtimeMs;
  const pid = readBadge(folder)?.pid;
  const isThere =
    pid === undefined ? ageMs < SIDECAR.startMs : ageMs < SIDECAR.silentMs && hasProcess(pid);
  return isThere ? "present" : "lost";
}

/** The environment of a sidecar: no certificates and options that make Node start slowly. */
const PASSED_ON = [
  "HOME",
  "PATH",
  "XDG_STATE_HOME",
  "AGENT_STATUS_DIR",
  "CLAUDE_CONFIG_DIR",
  "CODEX_HOME",
  "COPILOT_HOME",
];

/** Little memory, and no time spent on giving more of it back while nothing happens. */
const FRUGAL = ["--max-semi-space-size=1", "--no-memory-reducer"];

/** It outlives the hook and its host, and holds nothing of theirs: no terminal, pipe or folder. */
function start(words: readonly string[]): void {
  const { spawn } = process.getBuiltinModule("node:child_process");
  // All programs lie flat in one folder, and the library in one beside it: see scripts/bundle.mjs.
  const program = join(import.meta.dirname, "..", "bin", "sidecar.cjs");
  const env = Object.fromEntries(PASSED_ON.map((name) => [name, process.env[name]]));
  const child = spawn(process.execPath, [...FRUGAL, program, ...words], {
    cwd: "/",
    detached: true,
    stdio: "ignore",
    env,
  });
  child.on("error", () => undefined);
  child.unref();
}
