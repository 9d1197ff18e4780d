/** `rollcall hooks`: makes coding agents show up by themselves, in their own settings. */
import { buildCommand } from "@stricli/core";
import { apply } from "../../machine/settings/apply.ts";
import type { CodingAgent } from "../../coding-agents/adapter.ts";
import { agentNamed, CODING_AGENTS } from "../../coding-agents/agents.ts";
import type { Scene, Standing } from "../../machine/settings/installer.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { jsonFlag } from "../flags.ts";
import { about, type Example } from "../help.ts";
import { sceneOf, showPlan, shown } from "../plans.ts";
import { clean, cleanJson } from "../terminal/clean.ts";
import type { Style } from "../terminal/output.ts";
import { padEnd } from "../terminal/width.ts";

interface ChangeFlags {
  readonly project?: string;
  readonly dryRun?: boolean;
}

interface StatusFlags {
  readonly project?: string;
  readonly json?: boolean;
}

const project = {
  kind: "parsed",
  optional: true,
  parse: String,
  placeholder: "DIR",
  brief: "Only in this project, not for all",
} as const;

const NAMES = CODING_AGENTS.map(({ name }) => name);

const agentWord = {
  brief: `One of ${NAMES.join(", ")}`,
  placeholder: "AGENT",
  parse: agentNamed,
  proposeCompletions: (partial: string) => NAMES.filter((name) => name.startsWith(partial)),
};

function change(word: "install" | "uninstall", does: string, examples: readonly Example[]) {
  const dryRun = {
    kind: "boolean",
    optional: true,
    withNegated: false,
    brief: "Show what would change, and change nothing",
  } as const;
  return buildCommand<ChangeFlags, [CodingAgent], Context>({
    docs: about(`${does}. ${KEPT}`, ...examples),
    parameters: {
      flags: { project, dryRun },
      positional: { kind: "tuple", parameters: [agentWord] },
    },
    async func(flags, { title, install: installer }) {
      const plan = installer[word](sceneOf(this, flags.project));
      const path = shown(this, plan.path);
      if (plan.before === plan.after) {
        const state = word === "install" ? "is installed already in" : "is not installed in";
        return this.out.line(`${title} ${state} ${path}`);
      }
      if (flags.dryRun) {
        await showPlan(this, plan);
        return this.out.line("Nothing was changed.");
      }
      const backup = apply(plan);
      const done = word === "install" ? "installed in" : "taken out of";
      await this.out.line(`${this.out.paint("green", "✓")} ${title}: ${done} ${path}`);
      if (backup !== undefined) await this.out.line(`  what was there: ${shown(this, backup)}`);
      if (word === "install") await this.out.line(`  next: ${installer.next}`);
    },
  });
}

const KEPT =
  "Everything else in its settings\n" +
  "stays as it is, to the byte, and what was there is kept beside it.";

const install = change("install", "Make a coding agent show up by itself", [
  { call: "rollcall hooks install claude-code", does: "in ~/.claude/settings.json" },
  { call: "rollcall hooks install codex --dry-run", does: "only shows what would change" },
  { call: "rollcall hooks install opencode --project .", does: "only in this project" },
]);

const uninstall = change("uninstall", "Take our hooks out again", [
  { call: "rollcall hooks uninstall claude-code", does: "leaves all other hooks" },
]);

const status = buildCommand<StatusFlags, [CodingAgent?], Context>({
  docs: about(
    "Say which coding agents show up by themselves, and what keeps them from it.",
    { call: "rollcall hooks status", does: "all of them" },
    { call: "rollcall hooks status codex --json", does: "one, for a program" },
  ),
  parameters: {
    flags: { project, json: jsonFlag },
    positional: { kind: "tuple", parameters: [{ ...agentWord, optional: true }] },
  },
  async func(flags, only) {
    const scene = sceneOf(this, flags.project);
    const rows = (only ? [only] : CODING_AGENTS).map((agent) => {
      return { host: agent.name, ...standingOf(agent, scene) };
    });
    if (flags.json) await this.out.line(cleanJson({ hosts: rows }));
    else for (const row of rows) await showStanding(this, row);
    if (rows.every(({ state }) => state !== "installed")) this.endWith(EXIT.nothingFound);
  },
});

type Row = Omit<Standing, "state"> & {
  readonly host: string;
  readonly state: Standing["state"] | "unreadable";
};

/** One that cannot be read does not keep the others from being told. */
function standingOf({ install: installer }: CodingAgent, scene: Scene): Omit<Row, "host"> {
  try {
    return installer.standing(scene);
  } catch (error) {
    const details = error instanceof Error ? error.message : String(error);
    return { path: "", state: "unreadable", details, warnings: [] };
  }
}

const STATE_STYLES: Readonly<Record<Row["state"], Style>> = {
  installed: "green",
  partly: "yellow",
  outdated: "yellow",
  absent: "dim",
  unreadable: "red",
};

const WORDS: Readonly<Record<Row["state"], string>> = {
  installed: "installed",
  partly: "in part",
  outdated: "out of date",
  absent: "not installed",
  unreadable: "unreadable",
};

async function showStanding(context: Context, row: Row): Promise<void> {
  const { out } = context;
  const state = out.paint(STATE_STYLES[row.state], padEnd(WORDS[row.state], 13));
  const isThere = row.state === "installed" || row.state === "partly" || row.state === "outdated";
  const where = [shown(context, row.path), isThere && `(${row.details})`].filter(Boolean).join(" ");
  await out.line(`${padEnd(row.host, 11)}  ${state}  ${where || clean(row.details)}`);
  for (const warning of row.warnings) {
    await out.line(`${" ".repeat(28)}${out.paint("yellow", "warning:")} ${clean(warning)}`);
  }
  if (row.state === "partly" || row.state === "outdated") {
    await out.line(
      `${" ".repeat(28)}${out.paint("dim", "fix:")} rollcall hooks install ${row.host}`,
    );
  }
}

export const hooks = { status, install, uninstall } as const;
