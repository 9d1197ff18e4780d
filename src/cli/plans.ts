/**
 * Changes to the settings of other programs, the same way for all of them: they are shown first and
 * made when a person says yes, or at once with --yes; --dry-run only shows them.
 */
import { homedir } from "node:os";
import { resolve as absolute } from "node:path";
import { invalidArgument } from "../core/errors.ts";
import { apply } from "../machine/settings/apply.ts";
import { diff, type DiffLine } from "../machine/settings/diff.ts";
import type { Plan, Scene } from "../machine/settings/installer.ts";
import type { Context } from "./context.ts";
import { switchFlag } from "./flags.ts";
import { clean } from "./terminal/clean.ts";
import type { Style } from "./terminal/output.ts";
import { confirm } from "./terminal/prompt.ts";

export function sceneOf({ env }: Pick<Context, "env">, folder: string | undefined): Scene {
  return {
    env,
    home: env["HOME"] || homedir(),
    project: folder === undefined ? undefined : absolute(folder),
    // Every bundled program lies there: see scripts/bundle.mjs.
    programs: import.meta.dirname,
    node: process.execPath,
  };
}

/** As people write it. */
export function shownPlan({ env }: Context, path: string): string {
  const home = env["HOME"] || homedir();
  return clean(path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path);
}

const MARKS: Readonly<Record<DiffLine["kind"], readonly [string, Style | undefined]>> = {
  same: ["  ", undefined],
  added: ["+ ", "green"],
  removed: ["- ", "red"],
  gap: ["  ", "dim"],
};

export type ChangeVerb = "install" | "uninstall";

export interface ChangeFlags {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export const changeFlags = {
  dryRun: switchFlag("Show what would change, and change nothing"),
  yes: switchFlag("Change it without asking"),
} as const;

type Asking = Pick<Context, "out" | "err" | "listenForKeys" | "untilInterrupted">;

export interface Proposal {
  /** Shows the changes to the person who is asked. */
  readonly show: () => Promise<void>;
  readonly question: string;
}

/** Whether the changes are to be made; rejects where nobody can be asked. */
export async function isAgreed(
  context: Asking,
  flags: ChangeFlags,
  { show, question }: Proposal,
): Promise<boolean> {
  if (flags.yes === true && flags.dryRun !== true) return true;
  await show();
  if (flags.dryRun !== true) {
    if (!process.stdin.isTTY || !context.out.isTerminal) {
      throw invalidArgument("nothing was changed: --yes makes the change, --dry-run only shows it");
    }
    if (await confirm(context, question)) return true;
  }
  await context.out.line("Nothing was changed.");
  return false;
}

/** Makes the change; says where the file is now as it was. */
export async function carryOut(context: Context, plan: Plan, done: string): Promise<void> {
  const { out } = context;
  const backup = apply(plan);
  await out.line(`${out.paint("green", "✓")} ${done}`);
  if (backup !== undefined) await out.line(`  what was there: ${shownPlan(context, backup)}`);
}

export async function showPlan(context: Context, { path, before, after }: Plan): Promise<void> {
  const what =
    before === undefined
      ? "would be made"
      : after === undefined
        ? "would be removed"
        : "would change";
  const { out } = context;
  await out.line(`${shownPlan(context, path)} ${what}:`);
  for (const { kind, text } of diff(before ?? "", after ?? "")) {
    const [mark, style] = MARKS[kind];
    // Tabs would become spaces: what is shown is what stands there.
    const line = mark + text.split("\t").map(clean).join("\t");
    await out.line(style ? out.paint(style, line) : line);
  }
}
