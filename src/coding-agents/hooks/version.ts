/**
 * The version of a running program, from the package that its file lies in: hooks are not told it.
 * Asked for only when a program sent something unknown to us.
 */
import { readFileSync, readlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { field, parseJson, wordOf } from "../../core/text.ts";
import { commandLineOf } from "../../machine/processes.ts";
import { PAYLOAD } from "./limits.ts";

export function versionOf(pid: number): string | undefined {
  const words = [programOf(pid), ...commandLineOf(pid).split(" ")];
  // The program of a script is what runs it: a node of some version says nothing of the script.
  const file = words.find((word) => word?.startsWith("/") && !/^(?:node|bun)/.test(basename(word)));
  return file === undefined ? undefined : (versionIn(dirname(file)) ?? versionNamed(file));
}

function programOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/exe`);
  } catch {
    return undefined;
  }
}

/** Of the nearest package that has one. */
function versionIn(folder: string): string | undefined {
  const version = field(parseJson(packageIn(folder)), "version");
  const parent = dirname(folder);
  return wordOf(version, PAYLOAD.nameLength) ?? (parent === folder ? undefined : versionIn(parent));
}

function packageIn(folder: string): string {
  try {
    return readFileSync(join(folder, "package.json"), "utf8");
  } catch {
    return "";
  }
}

/** Installed by themselves, programs lie in a folder or a file that is named after the version. */
function versionNamed(file: string): string | undefined {
  return /\/v?(?<version>\d+\.\d+\.\d+[\w.-]*)(?=\/|$)/u.exec(file)?.groups?.["version"];
}
