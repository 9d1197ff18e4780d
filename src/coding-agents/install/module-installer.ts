/**
 * For hosts that load modules from a folder: a file of ours there, which finds the rest. After an
 * upgrade that moved Rollcall it is where `rollcall` in PATH leads; if nothing leads to it, the
 * host's own way of telling its user says so.
 */
import { join } from "node:path";
import { RollcallError } from "../../core/errors.ts";
import {
  mustStay,
  readIfThere,
  type Installer,
  type Scene,
} from "../../machine/settings/installer.ts";

interface ModuleHostOptions {
  readonly host: string;
  /** The host's word for a module: plug-in, extension. */
  readonly noun: string;
  /** Its file in dist/lib. */
  readonly module: string;
  readonly file: (scene: Scene) => string;
  /** Lines that call `load()` for the module; its error says what to do. */
  readonly text: readonly string[];
  readonly next: string;
}

export function moduleInstaller(options: ModuleHostOptions): Installer {
  const { host, noun, module, file, text, next } = options;
  const mark = `// Written by \`rollcall hooks install ${host}\`; uninstall takes it away.`;
  const wanted = ({ programs }: Scene) => {
    const path = join(programs, "..", "lib", module);
    return `${[mark, ...loader({ path, module, host }), ...text].join("\n")}\n`;
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
      return { path, before, after: wanted(scene), isOurs };
    },
    uninstall(scene) {
      const { path, before, isOurs } = read(scene);
      return { path, before, after: isOurs ? undefined : before, isOurs };
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

interface Loaded {
  /** Where it is now. */
  readonly path: string;
  readonly module: string;
  readonly host: string;
}

function loader({ path, module, host }: Loaded): readonly string[] {
  const missing = `rollcall is not where it was: run \`rollcall hooks install ${host}\``;
  return [
    'import { existsSync, realpathSync } from "node:fs";',
    'import { delimiter, join } from "node:path";',
    'import { pathToFileURL } from "node:url";',
    "",
    "async function load() {",
    '  const folders = (process.env.PATH ?? "").split(delimiter);',
    '  const program = folders.map((folder) => join(folder, "rollcall")).find(existsSync);',
    `  const places = [${JSON.stringify(path)}];`,
    "  if (program) {",
    `    const module = ${JSON.stringify(module)};`,
    '    places.push(join(realpathSync(program), "../../lib", module));',
    "  }",
    "  const found = places.find(existsSync);",
    `  if (!found) throw new Error(${JSON.stringify(missing)});`,
    "  return import(pathToFileURL(found).href);",
    "}",
    "",
  ];
}
