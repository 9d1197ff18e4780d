/**
 * Where status files are: AGENT_STATUS_DIR, else agent-status in XDG_STATE_HOME, else in
 * ~/.local/state. Paths are written the way the peer writes them, so that what it prints and what
 * we print is the same text.
 */
import { homedir, userInfo } from "node:os";
import { invalidArgument } from "../../core/errors.ts";
import { STATUS_FILE } from "./limits.ts";
import type { Environment } from "../../machine/surroundings.ts";

export function statusFolder(env: Environment = process.env): string {
  const { AGENT_STATUS_DIR, XDG_STATE_HOME } = env;
  if (AGENT_STATUS_DIR) return expandPath(AGENT_STATUS_DIR, env);
  const base = XDG_STATE_HOME ? XDG_STATE_HOME : "~/.local/state";
  return expandPath(`${base}/agent-status`, env);
}

/** With ~ as the home folder, and without empty or idle steps: `a//b/./c/` is `a/b/c`. */
export function expandPath(path: string, env: Environment = process.env): string {
  const tidy = tidyPath(path);
  const [first = "", ...rest] = tidy.split("/");
  if (!first.startsWith("~")) return tidy;
  return tidyPath([homeOf(first.slice(1), env), ...rest].join("/"));
}

function tidyPath(path: string): string {
  const [slashes = ""] = /^\/*/.exec(path) ?? [];
  const root = slashes.length === 2 ? "//" : slashes.slice(0, 1);
  const steps = path.split("/").filter((step) => step !== "" && step !== ".");
  return root + steps.join("/") || ".";
}

function homeOf(user: string, env: Environment): string {
  if (user === "" || user === userInfo().username) return env["HOME"] || homedir();
  throw invalidArgument(`the home folder of ~${user} is unknown: give the whole path`);
}

/** The file of an agent; an id that is no file name is refused. */
export function statusPath(agentId: string, folder: string = statusFolder()): string {
  if (agentId === "" || /[/\\\0]/.test(agentId) || agentId === "." || agentId === "..") {
    throw invalidArgument("agent_id must be non-empty and filename-safe");
  }
  const bytes = Buffer.byteLength(agentId);
  if (bytes > STATUS_FILE.idBytes) {
    const most = STATUS_FILE.idBytes;
    throw invalidArgument(
      `agent_id has ${bytes} bytes, at most ${most} are allowed: it names a file`,
    );
  }
  return pathIn(folder, `${agentId}.json`);
}

export function pathIn(folder: string, name: string): string {
  if (folder === ".") return name;
  return folder.endsWith("/") ? folder + name : `${folder}/${name}`;
}
