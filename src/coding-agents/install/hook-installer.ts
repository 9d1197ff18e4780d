/** For hosts that run commands at every step: their settings list them, ours among others. */
import { existsSync, realpathSync } from "node:fs";
import { delimiter, join } from "node:path";
import { censusOf, ownHooks, withHooks, withoutHooks, type HookPlan } from "./hook-settings.ts";
import {
  inFile,
  mustStay,
  readIfThere,
  type Installer,
  type Scene,
  type InstallCondition,
} from "../../machine/settings/installer.ts";

interface HookHostOptions extends Omit<HookPlan, "command"> {
  readonly file: (scene: Scene) => string;
  readonly warnings: (settings: string | undefined, scene: Scene) => readonly string[];
  /** Whether it knows hooks by their places, so that those of others must keep theirs. */
  readonly keepsPlaces?: boolean;
  readonly next: string;
}

export function hookInstaller(options: HookHostOptions): Installer {
  const { host, events, file, warnings, next, keepsPlaces } = options;
  const names = Object.keys(events);
  const planOf = (scene: Scene): HookPlan => ({ host, events, command: commandOf(host, scene) });
  return {
    next,
    install(scene) {
      const path = file(scene);
      const before = readIfThere(path);
      mustStay(scene);
      return inFile(path, () => ({
        path,
        before,
        after: withHooks(before ?? "", planOf(scene)),
        hadOurs: ownHooks(before ?? "", host).length > 0,
      }));
    },
    uninstall(scene) {
      const path = file(scene);
      const before = readIfThere(path);
      if (before === undefined) return { path, before, after: before };
      const after = inFile(path, () => withoutHooks(before, host, { keepsPlaces }));
      // Nothing but our hooks was in it.
      const isOurs = after !== before && after.replaceAll(/\s/g, "") === "{}";
      return { path, before, after: isOurs ? undefined : after, isOurs, hadOurs: after !== before };
    },
    standing(scene) {
      const path = file(scene);
      const text = readIfThere(path);
      const { current, outdated } = inFile(path, () => censusOf(text ?? "", planOf(scene)));
      const missing = names.filter((event) => ![...current, ...outdated].includes(event));
      const there = names.length - missing.length;
      const state = stateOf({ there, missing: missing.length, outdated: outdated.length });
      const details =
        missing.length > 0 && there > 0 ? `missing: ${missing.join(", ")}` : `${there} events`;
      return { path, state, details, warnings: warnings(text, scene) };
    },
  };
}

interface HookCounts {
  readonly there: number;
  readonly missing: number;
  readonly outdated: number;
}

function stateOf({ there, missing, outdated }: HookCounts): InstallCondition["state"] {
  if (there === 0) return "absent";
  if (missing > 0) return "partly";
  return outdated > 0 ? "outdated" : "installed";
}

/** By its name where that finds this very program; else by where it lies. */
function commandOf(host: string, { env, programs, node }: Scene): string {
  const program = join(programs, "rollcall.cjs");
  const found = (env["PATH"] ?? "")
    .split(delimiter)
    // npm adds those folders only for its own scripts.
    .filter((folder) => !folder.includes("node_modules"))
    .map((folder) => join(folder, "rollcall"))
    .find((path) => existsSync(path));
  const isThis = found !== undefined && existsSync(program) && isSame(found, program);
  if (isThis) return `rollcall hook ${host}`;
  return `${quoted(node)} ${quoted(program)} hook ${host}`;
}

function isSame(a: string, b: string): boolean {
  return realpathSync(a) === realpathSync(b);
}

/** As a shell takes it for one word. */
export function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
