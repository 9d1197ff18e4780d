/**
 * The bearer token of a client: from a file, or from the environment. Never from the command line,
 * where every user of the machine can read it; and no error repeats it.
 */
import { readFileSync } from "node:fs";
import { invalidArgument } from "../../core/errors.ts";
import { failureReason } from "../reasons.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** One word of visible characters: what a header can hold. */
const TOKEN = /^[\x21-\x7e]{1,1000}$/;

/** That of the file, else ROLLCALL_TOKEN, else none. */
export function findToken(file: string | undefined, env: Environment): string | undefined {
  if (file !== undefined) return checked(textOf(file), `--token-file ${file}`);
  const token = env["ROLLCALL_TOKEN"];
  return token ? checked(token, "ROLLCALL_TOKEN") : undefined;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw invalidArgument(`--token-file ${file} cannot be read (${failureReason(cause)})`, cause);
  }
}

function checked(text: string, source: string): string {
  const token = text.trim();
  if (TOKEN.test(token)) return token;
  const what = token === "" ? "is empty" : "holds more than one word, or no plain text";
  throw invalidArgument(`${source} ${what}: a token is one word`);
}
