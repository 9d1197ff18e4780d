/** For hosts that load modules from a folder: a file of ours there, which finds the rest. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { RollcallError } from "../../core/errors.ts";
import {
  mustStay,
  readIfThere,
  type Installer,
  type Scene,
} from "../../machine/settings/installer.ts";

interface ModuleHostOptions {
  readonly host: string;
  /** What it calls a module of ours. */
  readonly noun: string;
  /** Below dist/coding-agents. */
  readonly module: string;
  readonly file: (scene: Scene) => string;
  readonly text: (module: string) => readonly string[];
  readonly next: string;
}

export function moduleInstaller(options: ModuleHostOptions): Installer {
  const { host, noun, module, file, text, next } = options;
  const mark = `// Written by \`rollcall hooks install ${host}\`; uninstall takes it away.`;
  const wanted = ({ programs }: Scene) => {
    const url = pathToFileURL(join(programs, "..", "coding-agents", module)).href;
    return `${[mark, ...text(url)].join("\n")}\n`;
  };
  const read = (scene: Scene) => {
    const path = file(scene);
    const before = readIfThere(path);
    return { path, before, isOurs: before?.startsWith(mark) ?? false };
  };
  return {
    next,
    install(scene) {
      const { path, before, isOurs } = read(scene);
      mustStay(scene);
      if (before !== undefined && !isOurs) {
        throw new RollcallError("ALREADY_EXISTS", `${path} is not ours: move it away first`);
      }
      return { path, before, after: wanted(scene) };
    },
    uninstall(scene) {
      const { path, before, isOurs } = read(scene);
      return { path, before, after: isOurs ? undefined : before };
    },
    standing(scene) {
      const { path, before, isOurs } = read(scene);
      const isCurrent = before === wanted(scene);
      const state = isCurrent ? "installed" : isOurs ? "outdated" : "absent";
      const warnings = before === undefined || isOurs ? [] : ["another file has this name"];
      return { path, state, details: noun, warnings };
    },
  };
}
