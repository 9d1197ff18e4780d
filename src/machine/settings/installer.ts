/**
 * How a coding agent is made to show up by itself: one file of its own is changed. What an
 * installer gives is a plan that can be shown before it is carried out.
 */
import { isUtf8 } from "node:buffer";
import { readFileSync, statSync } from "node:fs";
import { RollcallError } from "../../core/errors.ts";
import { MAX_CONFIG_BYTES } from "../limits.ts";
import type { Environment } from "../surroundings.ts";

export interface Scene {
  readonly env: Environment;
  readonly home: string;
  /** The folder of a project, when only it is meant. */
  readonly project: string | undefined;
  /** Where our programs lie (dist/bin), and node. */
  readonly programs: string;
  readonly node: string;
}

export interface Plan {
  readonly path: string;
  /** Nothing where there is no file. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** Only this program has written to it: its text before need not be kept. */
  readonly isOurs?: boolean;
  /** Ours was in it already: the copy from before that stays. */
  readonly hadOurs?: boolean;
}

export interface InstallCondition {
  readonly path: string;
  readonly state: "installed" | "partly" | "outdated" | "absent";
  readonly details: string;
  /** Problems that keep it from working all the same. */
  readonly warnings: readonly string[];
}

export interface Installer {
  install(scene: Scene): Plan;
  uninstall(scene: Scene): Plan;
  standing(scene: Scene): InstallCondition;
  /** The next step for the user. */
  readonly next: string;
}

/** Names the file in what is wrong with it, and says what to do. */
export function inFile<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof RollcallError) || error.code !== "INVALID_ARGUMENT") throw error;
    const message = `${path} cannot be changed: ${error.message}; correct it and try again`;
    throw new RollcallError("WRONG_STATE", message, { cause: error });
  }
}

export function readIfThere(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return undefined;
  if (!stats.isFile() || stats.size > MAX_CONFIG_BYTES) {
    throw new RollcallError("WRONG_STATE", `${path} is no settings file: move it away first`);
  }
  const bytes = readFileSync(path);
  // Read as text and written again, its other bytes would be lost.
  if (isUtf8(bytes)) return bytes.toString();
  throw new RollcallError("WRONG_STATE", `${path} is not UTF-8: save it as that and try again`);
}

/** Installed settings name the path of our programs, so it must not go away by itself. */
export function mustStay({ programs }: Scene): void {
  if (!/[/\\]_npx[/\\]/.test(programs)) return;
  const message = "npx keeps rollcall only for a while: install it with npm install -g rollcall";
  throw new RollcallError("WRONG_STATE", message);
}
