/**
 * The daemons that this user logged in to, each under a name, and which of them commands talk to:
 * `contexts.json` in the config folder. It may hold tokens, so it is its user's alone. The daemon
 * of this machine needs no entry: it is the context `local`.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { invalidArgument, RollcallError } from "../../core/errors.ts";
import { isRecord, parsedRecord } from "../../core/json-object.ts";
import { makeFolder } from "../../machine/folders.ts";
import { configFolder } from "../../machine/places.ts";
import { replaceFile } from "../../machine/replace-file.ts";
import type { Environment } from "../../machine/surroundings.ts";
import { systemCode, systemError } from "../../machine/system-error.ts";

/** A daemon, the credential to present there, and how its certificate is known. */
export interface DaemonContext {
  readonly url: string;
  readonly token?: string;
  /** Read anew for every command, so that a token may change there. */
  readonly tokenFile?: string;
  /** The certificates of the authority that signed the daemon's. */
  readonly caFile?: string;
  /** The SHA-256 of the daemon's certificate. */
  readonly fingerprint?: string;
  /** The caller's own certificate and its key. */
  readonly certFile?: string;
  readonly keyFile?: string;
}

export interface Contexts {
  readonly current: string;
  readonly byName: ReadonlyMap<string, DaemonContext>;
}

/** The daemon that this user runs on this machine. */
export const LOCAL_CONTEXT = "local";

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const FIELDS = ["url", "token", "tokenFile", "caFile", "fingerprint", "certFile", "keyFile"];

export function checkContextName(name: string): string {
  if (NAME.test(name) && name !== LOCAL_CONTEXT) return name;
  const why = name === LOCAL_CONTEXT ? "is the daemon of this machine" : "is not a name";
  const rule = "a name is up to 64 letters, digits, dots, dashes and underscores";
  throw invalidArgument(`"${name}" ${why}: ${rule}, but not local`);
}

export function contextsPath(env: Environment): string {
  return join(configFolder(env), "contexts.json");
}

export function readContexts(env: Environment): Contexts {
  const path = contextsPath(env);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return { current: LOCAL_CONTEXT, byName: new Map() };
    throw systemError(`read ${path}`, error);
  }
  const contexts = parse(text);
  if (contexts) return contexts;
  const message = `${path} is not a file of contexts: correct it, or remove it and log in again`;
  throw invalidArgument(message);
}

export function writeContexts({ current, byName }: Contexts, env: Environment): void {
  const path = contextsPath(env);
  const contexts = Object.fromEntries(byName);
  try {
    makeFolder(configFolder(env), 0o700);
    replaceFile(path, `${JSON.stringify({ current, contexts }, undefined, 2)}\n`, 0o600);
  } catch (error) {
    throw systemError(`write ${path}`, error);
  }
}

/** The context of this name; throws NOT_FOUND, and names those that there are. */
export function contextNamed({ byName }: Contexts, name: string): DaemonContext {
  const found = byName.get(name);
  if (found) return found;
  const names = [LOCAL_CONTEXT, ...byName.keys()].join(", ");
  const fix = `there are ${names}; \`rollcall login URL --context ${name}\` makes one`;
  throw new RollcallError("NOT_FOUND", `no context ${name}: ${fix}`);
}

function parse(text: string): Contexts | undefined {
  const file = parsedRecord(text);
  if (!file || typeof file["current"] !== "string" || !isRecord(file["contexts"])) {
    return undefined;
  }
  const byName = new Map<string, DaemonContext>();
  for (const [name, context] of Object.entries(file["contexts"])) {
    if (!isContext(context)) return undefined;
    byName.set(name, context);
  }
  return { current: file["current"], byName };
}

function isContext(value: unknown): value is DaemonContext {
  if (!isRecord(value) || typeof value["url"] !== "string") return false;
  return Object.entries(value).every(
    ([field, each]) => FIELDS.includes(field) && typeof each === "string",
  );
}
