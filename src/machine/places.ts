/**
 * Where the daemon keeps its state, hooks what they must remember, and commands the daemons that
 * the user logged in to: for the owner alone.
 */
import { isAbsolute, join } from "node:path";
import type { Environment } from "./surroundings.ts";

export function stateFolder(env: Environment = process.env): string {
  return folderIn(env["XDG_STATE_HOME"], [".local", "state"], env);
}

export function configFolder(env: Environment = process.env): string {
  return folderIn(env["XDG_CONFIG_HOME"], [".config"], env);
}

/** For what can be made again. */
export function cacheFolder(env: Environment = process.env): string {
  return folderIn(env["XDG_CACHE_HOME"], [".cache"], env);
}

/** In the base folder that the variable names, or in the usual one below the home. */
function folderIn(base: string | undefined, usual: readonly string[], env: Environment): string {
  const isUsable = base !== undefined && isAbsolute(base);
  return join(isUsable ? base : join(env["HOME"] || systemHome(), ...usual), "rollcall");
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
