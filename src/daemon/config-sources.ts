/** The three sources of settings: flags, the environment, a file. Each has its own names. */
import { readFile } from "node:fs/promises";
import { parse, TomlError } from "smol-toml";
import { errorText, invalidArgument } from "../core/errors.ts";
import { nearest } from "../core/nearest.ts";
import type { SettingText } from "./config-schema.ts";
import { SETTINGS, type Setting, type SettingName } from "./settings.ts";

export type SettingSource = ReadonlyMap<SettingName, SettingText>;

/** A config file is a page; whatever is larger is another file. */
const MAX_FILE_BYTES = 256 * 1024;

export function fromFlags(flags: Partial<Record<string, string>>): SettingSource {
  const known = SETTINGS.flatMap((setting) => [setting.flag, ...aliasFlags(setting)]);
  const unknown = Object.keys(flags).find((flag) => !known.includes(flag));
  if (unknown !== undefined) {
    throw invalidArgument(`--${unknown} is not a setting; ${knownLike(unknown, known, "--")}`);
  }
  return gather((setting) =>
    [setting.flag, ...aliasFlags(setting)].map((flag) => [`--${flag}`, flags[flag]]),
  );
}

/** Other programs have variables that begin with ROLLCALL_ too: unknown ones are theirs. */
export function fromEnvironment(env: NodeJS.ProcessEnv): SettingSource {
  return gather(({ env: name, aliases }) =>
    [name, ...aliases.map((alias) => alias.env)].map((variable) => [
      variable,
      env[variable] === "" ? undefined : env[variable],
    ]),
  );
}

/** The settings of a file, and its table of agents, which is no setting. */
export interface FileSettings {
  readonly said: SettingSource;
  readonly agents: unknown;
}

export async function fromFile(path: string): Promise<FileSettings> {
  return fromText(path, await readText(path));
}

/** The same of its text. */
export function fromText(path: string, text: string): FileSettings {
  const table = parseToml(path, text);
  const known = SETTINGS.filter(({ name }) => name !== "config").map(({ name }) => name);
  const unknown = Object.keys(table).find(
    (key) => key !== AGENTS && !known.some((name) => name === key),
  );
  if (unknown !== undefined) {
    throw invalidArgument(`${unknown} in ${path} is not a setting; ${knownLike(unknown, known)}`);
  }
  const said = gather(({ name }) => [[`${name} in ${path}`, table[name]]]);
  return { said, agents: table[AGENTS] };
}

const AGENTS = "agents";

function knownLike(unknown: string, known: readonly string[], dashes = ""): string {
  const similar = nearest(unknown, known).map((name) => `${dashes}${name}`);
  if (similar.length > 0) return `did you mean ${similar.join(" or ")}?`;
  return "`rollcall up --help` lists them";
}

type Spoken = readonly [source: string, value: unknown];

/** The value of each setting in one source, with the name that the source used. */
function gather(lookUp: (setting: Setting) => readonly Spoken[]): SettingSource {
  const said = new Map<SettingName, SettingText>();
  for (const setting of SETTINGS) {
    const [first, second] = lookUp(setting).filter(([, value]) => value !== undefined);
    if (first && second) {
      throw invalidArgument(
        `${first[0]} and ${second[0]} are two names of one setting: give one of them`,
      );
    }
    if (first) said.set(setting.name, { source: first[0], value: first[1] });
  }
  return said;
}

function aliasFlags({ aliases }: Setting): readonly string[] {
  return aliases.map(({ flag }) => flag);
}

async function readText(path: string): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (cause) {
    const why = errorText(cause);
    throw invalidArgument(`cannot read the config file: ${why}`, cause);
  }
  if (bytes.length > MAX_FILE_BYTES) {
    const message = `${path} has ${bytes.length} bytes, a config file at most ${MAX_FILE_BYTES}`;
    throw invalidArgument(message);
  }
  return bytes.toString();
}

function parseToml(path: string, text: string): Readonly<Record<string, unknown>> {
  try {
    return parse(text);
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const [why = ""] = cause.message.split("\n");
    const where = `${path}:${cause.line}:${cause.column}`;
    throw invalidArgument(`${where}: ${why}`, cause);
  }
}
