/** The users of this machine, asked of the system: names may come from a directory, not a file. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { invalidArgument } from "../core/errors.ts";

const run = promisify(execFile);
const ASK_MS = 5_000;

/** The users that a setting names, each with its number; throws where there is no such user. */
export async function usersOf<User extends { readonly name: string }>(
  setting: string,
  named: readonly User[],
): Promise<readonly (User & { readonly uid: number })[]> {
  return Promise.all(
    named.map(async (user) => ({ ...user, uid: await uidOf(setting, user.name) })),
  );
}

async function uidOf(setting: string, name: string): Promise<number> {
  if (/^\d+$/.test(name)) return Number(name);
  try {
    const { stdout } = await run("id", ["-u", "--", name], { timeout: ASK_MS });
    return Number(stdout);
  } catch (cause) {
    throw invalidArgument(`${setting} names ${name}, who is no user of this machine`, cause);
  }
}
