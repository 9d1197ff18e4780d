/**
 * The bearer token of a client: from a file, or from the environment. Never from the command line,
 * where every user of the machine can read it; and no error repeats it.
 */
import { readFileSync } from "node:fs";
import { invalidArgument } from "../../core/errors.ts";
import { failureReason } from "../reasons.ts";
import type { Environment } from "../../machine/surroundings.ts";

/** One word of visible characters, as a header can hold it; a JWT with many groups is 4 KiB. */
const TOKEN = /^[\x21-\x7e]{1,8000}$/;

/** That of the file, else ROLLCALL_TOKEN, else none. */
export function findToken(file: string | undefined, env: Environment): string | undefined {
  if (file !== undefined) return tokenIn(file, `--token-file ${file}`);
  const token = env["ROLLCALL_TOKEN"];
  return token ? checkToken(token, "ROLLCALL_TOKEN") : undefined;
}

/** `source` names the file when it is wrong. */
export function tokenIn(file: string, source: string): string {
  return checkToken(readTextFile(file, source), source);
}

export function readTextFile(file: string, source: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw invalidArgument(`${source} cannot be read (${failureReason(cause)})`, cause);
  }
}

/** Without the blanks around it. */
export function checkToken(text: string, source: string): string {
  const token = text.trim();
  if (TOKEN.test(token)) return token;
  const what = token === "" ? "is empty" : "holds more than one word, or no plain text";
  throw invalidArgument(`${source} ${what}: a token is one word`);
}
