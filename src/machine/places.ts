/** Where the daemon keeps its state, and hooks what they must remember: for the owner alone. */
import { isAbsolute, join } from "node:path";
import type { Environment } from "./surroundings.ts";

export function stateFolder(env: Environment = process.env): string {
  const { XDG_STATE_HOME: home, HOME } = env;
  const isUsable = home !== undefined && isAbsolute(home);
  const base = isUsable ? home : join(HOME || systemHome(), ".local", "state");
  return join(base, "rollcall");
}

/** The daemon's own socket, in the folder of its state. */
export const SOCKET_NAME = "rollcall.sock";

/** Of the daemon that this user starts without further words. */
export function socketPath(env: Environment = process.env): string {
  return env["ROLLCALL_SOCKET"] || join(env["ROLLCALL_DATA_DIR"] || stateFolder(env), SOCKET_NAME);
}

/** Where `rollcall tls self-signed` puts a certificate and its key, unless told otherwise. */
export function tlsFolder(env: Environment = process.env): string {
  return join(stateFolder(env), "tls");
}

export function hooksFolder(env: Environment = process.env): string {
  return join(stateFolder(env), "hooks");
}

function systemHome(): string {
  return process.getBuiltinModule("node:os").homedir();
}

/** Of one session. */
export function sessionFolder(agentId: string, env: Environment = process.env): string {
  return join(hooksFolder(env), agentId);
}

const PLAIN = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Names the status file of a session: after its id, where that is a plain word. */
export function agentIdOf(host: string, sessionId: string): string {
  if (PLAIN.test(sessionId)) return `${host}-${sessionId}`;
  const { createHash } = process.getBuiltinModule("node:crypto");
  return `${host}-${createHash("sha256").update(sessionId).digest("hex").slice(0, 32)}`;
}
