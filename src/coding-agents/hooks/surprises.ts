/**
 * Events of a host that we do not know: most likely it is newer than we are. One small file for
 * each, which `rollcall doctor` tells of; nothing of a payload goes in but the name of the thing.
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../../machine/folders.ts";
import { hooksFolder } from "../../machine/places.ts";
import type { Environment } from "../../machine/surroundings.ts";
import { field, oneLine } from "../../core/text.ts";
import { PAYLOAD } from "./limits.ts";

export interface Surprise {
  readonly host: string;
  readonly what: string;
  readonly version?: string;
  readonly atMs: number;
}

function folderOf(env?: Environment): string {
  return join(hooksFolder(env), "unknown");
}

export function surprise(host: string, what: string, version?: string): void {
  try {
    const name = `${host}-${what.replaceAll(/\W+/gu, "-").slice(0, PAYLOAD.nameLength)}.json`;
    makeFolder(folderOf(), 0o700);
    const text = JSON.stringify({ host, what: oneLine(what, PAYLOAD.nameLength), version });
    writeFileSync(join(folderOf(), name), text, { mode: 0o600 });
  } catch {
    // The host must not fail, and there is no other place to say it.
  }
}

export function surprises(env: Environment): readonly Surprise[] {
  const folder = folderOf(env);
  return namesIn(folder).flatMap((name) => read(join(folder, name)) ?? []);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Nothing where it cannot be read: the others are still told. */
function read(path: string): Surprise | undefined {
  try {
    const record: unknown = JSON.parse(readFileSync(path, "utf8"));
    const [host, what, version] = ["host", "what", "version"].map((key) => field(record, key));
    if (typeof host !== "string" || typeof what !== "string") return undefined;
    const { mtimeMs: atMs } = statSync(path);
    return { host, what, ...(typeof version === "string" && { version }), atMs };
  } catch {
    return undefined;
  }
}
