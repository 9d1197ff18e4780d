/**
 * The token of the user that runs the daemon, where the system does not tell the user of a
 * connection: a file that only this user can read, made anew at every start. Below the token it
 * names the ports of that daemon: a client presents it there alone, for another port of this
 * machine may be anybody's.
 */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { stateFolder } from "./places.ts";
import { replaceFile } from "./replace-file.ts";
import type { Environment } from "./surroundings.ts";

/** In the folder of the daemon's state. */
export const LOCAL_TOKEN_NAME = "rollcall.token";

export function writeLocalToken(path: string, token: string, ports: readonly number[]): void {
  replaceFile(path, `${[token, ...ports].join("\n")}\n`, 0o600);
}

/** Idempotent. */
export function removeLocalToken(path: string): void {
  rmSync(path, { force: true });
}

/** The token for this port of this machine, if its user's daemon made one. */
export function readLocalToken(port: number, env: Environment): string | undefined {
  const folder = env["ROLLCALL_DATA_DIR"] || stateFolder(env);
  try {
    const [token, ...ports] = readFileSync(join(folder, LOCAL_TOKEN_NAME), "utf8").split("\n");
    return ports.includes(String(port)) ? token : undefined;
  } catch {
    return undefined;
  }
}
