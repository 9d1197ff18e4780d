/** The diff of a planned change to a settings file, shown before it is made. */
import { homedir } from "node:os";
import { resolve } from "node:path";
import { diff, type DiffLine } from "../machine/settings/diff.ts";
import type { Plan, Scene } from "../machine/settings/installer.ts";
import type { Context } from "./context.ts";
import { clean } from "./terminal/clean.ts";
import type { Style } from "./terminal/output.ts";

export function sceneOf({ env }: Pick<Context, "env">, folder: string | undefined): Scene {
  return {
    env,
    home: env["HOME"] || homedir(),
    project: folder === undefined ? undefined : resolve(folder),
    // Every bundled program lies there: see scripts/bundle.mjs.
    programs: import.meta.dirname,
    node: process.execPath,
  };
}

/** As people write it. */
export function shown({ env }: Context, path: string): string {
  const home = env["HOME"] || homedir();
  return clean(path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path);
}

const MARKS: Readonly<Record<DiffLine["kind"], readonly [string, Style | undefined]>> = {
  same: ["  ", undefined],
  added: ["+ ", "green"],
  removed: ["- ", "red"],
  gap: ["  ", "dim"],
};

export async function showPlan(context: Context, { path, before, after }: Plan): Promise<void> {
  const what =
    before === undefined
      ? "would be made"
      : after === undefined
        ? "would be removed"
        : "would change";
  const { out } = context;
  await out.line(`${shown(context, path)} ${what}:`);
  for (const { kind, text } of diff(before ?? "", after ?? "")) {
    const [mark, style] = MARKS[kind];
    // Tabs would become spaces: what is shown is what stands there.
    const line = mark + text.split("\t").map(clean).join("\t");
    await out.line(style ? out.paint(style, line) : line);
  }
}
