/** `rollcall hooks`: makes coding agents show up by themselves, in their own settings. */
import { existsSync } from "node:fs";
import { buildCommand } from "@stricli/core";
import { lastHeardMs } from "../../coding-agents/hooks/heard.ts";
import { apply } from "../../machine/settings/apply.ts";
import type { CodingAgent } from "../../coding-agents/adapter.ts";
import { agentNamed, CODING_AGENTS } from "../../coding-agents/agents.ts";
import type { Plan, Scene, Standing } from "../../machine/settings/installer.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { jsonFlag } from "../flags.ts";
import { about, type Example } from "../help.ts";
import { sceneOf, showPlan, shown } from "../plans.ts";
import { clean, cleanJson } from "../terminal/clean.ts";
import type { Style } from "../terminal/output.ts";
import { ago } from "../terminal/time.ts";
import { padEnd } from "../terminal/width.ts";

interface ChangeFlags {
  readonly project?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

interface StatusFlags {
  readonly project?: string;
  readonly json?: boolean;
}

type Word = "install" | "uninstall";

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

function flag(brief: string) {
  return { kind: "boolean", optional: true, withNegated: false, brief } as const;
}

const dryRun = flag("Show what would change, and change nothing");
const yes = flag("Without asking");

/** Without a name: all that are found on this machine, or installed. */
function change(word: Word, does: string, examples: readonly Example[]) {
  return buildCommand<ChangeFlags, [CodingAgent?], Context>({
    docs: about(`${does}. ${KEPT}`, ...examples),
    parameters: {
      flags: { project, dryRun, yes },
      positional: { kind: "tuple", parameters: [{ ...agentWord, optional: true }] },
    },
    async func(flags, only) {
      const scene = sceneOf(this, flags.project);
      if (only) return carryOut(this, planOf(only, word, scene), { word, ...flags });
      const plans = CODING_AGENTS.filter((agent) => existsSync(agent.home(scene)))
        .map((agent) => planOf(agent, word, scene))
        .filter(({ before, after }) => before !== after);
      if (plans.length === 0) {
        const state = word === "install" ? "All that are found are installed" : "None is installed";
        return this.out.line(`${state}: rollcall hooks status`);
      }
      for (const { agent, path } of plans) {
        await this.out.line(`${padEnd(agent.title, 12)} ${shown(this, path)}`);
      }
      const isWanted = flags.yes || flags.dryRun || (await isConfirmed(this, word));
      if (!isWanted) return this.out.line("Nothing was changed: add --yes to change it.");
      for (const plan of plans) await carryOut(this, plan, { word, ...flags });
    },
  });
}

interface AgentPlan extends Plan {
  readonly agent: CodingAgent;
}

function planOf(agent: CodingAgent, word: Word, scene: Scene): AgentPlan {
  return { agent, ...agent.install[word](scene) };
}

async function carryOut(
  context: Context,
  { agent, ...plan }: AgentPlan,
  { word, dryRun: isDry }: ChangeFlags & { readonly word: Word },
): Promise<void> {
  const { out } = context;
  const path = shown(context, plan.path);
  if (plan.before === plan.after) {
    const state = word === "install" ? "is installed already in" : "is not installed in";
    return out.line(`${agent.title} ${state} ${path}`);
  }
  if (isDry) {
    await showPlan(context, plan);
    return out.line("Nothing was changed.");
  }
  const backup = apply(plan);
  const done = word === "install" ? "installed in" : "taken out of";
  await out.line(`${out.paint("green", "✓")} ${agent.title}: ${done} ${path}`);
  if (backup !== undefined) await out.line(`  what was there: ${shown(context, backup)}`);
  if (word === "install") await out.line(`  next: ${agent.install.next}`);
}

/** By a key, where a person sits in front of it. */
async function isConfirmed(context: Context, word: Word): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return false;
  const verb = word === "install" ? "Install our hooks in these" : "Take our hooks out of these";
  await context.out.line(`${verb}? y/N`);
  return new Promise((resolve) => {
    const stop = context.listenForKeys((key) => {
      stop();
      resolve(key.toLowerCase() === "y");
    });
  });
}

const KEPT =
  "Everything else in its settings\n" +
  "stays as it is, to the byte, and what was there is kept beside it.";

const install = change("install", "Make coding agents show up by themselves", [
  { call: "rollcall hooks install", does: "all that are found here; asks first" },
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
      const heardMs = lastHeardMs(agent.name, this.env);
      return { host: agent.name, ...standingOf(agent, scene), heardAtMs: heardMs ?? null };
    });
    if (flags.json) await this.out.line(cleanJson({ hosts: rows }));
    else for (const row of rows) await showStanding(this, row);
    if (rows.every(({ state }) => state !== "installed")) this.endWith(EXIT.nothingFound);
  },
});

type Row = Omit<Standing, "state"> & {
  readonly host: string;
  readonly state: Standing["state"] | "unreadable";
  /** When something was last heard of it. */
  readonly heardAtMs: number | null;
};

/** One that cannot be read does not keep the others from being told. */
function standingOf(
  { install: installer }: CodingAgent,
  scene: Scene,
): Omit<Row, "host" | "heardAtMs"> {
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
  if (isThere) {
    const heard = row.heardAtMs === null ? "nothing yet" : ago(row.heardAtMs, Date.now());
    await out.line(`${" ".repeat(28)}${out.paint("dim", "last heard:")} ${heard}`);
  }
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
