/** `rollcall hooks`: makes coding agents show up by themselves, in their own settings. */
import { existsSync } from "node:fs";
import { buildCommand } from "@stricli/core";
import { lastHeard } from "../../coding-agents/hooks/heard.ts";
import type { CodingAgent } from "../../coding-agents/adapter.ts";
import { agentNamed, CODING_AGENTS } from "../../coding-agents/agents.ts";
import { quoted } from "../../coding-agents/install/hook-installer.ts";
import type { Plan, Scene, InstallCondition } from "../../machine/settings/installer.ts";
import type { Context } from "../context.ts";
import { problemText } from "../doctor/finding.ts";
import { EXIT, exitCodeOf } from "../exit.ts";
import { jsonFlag, textFlag } from "../flags.ts";
import { about, type Example } from "../help.ts";
import {
  carryOut,
  changeFlags,
  isAgreed,
  sceneOf,
  showPlan,
  shownPlan,
  type ChangeFlags,
  type ChangeVerb,
  type Proposal,
} from "../plans.ts";
import { clean, cleanJson } from "../terminal/clean.ts";
import type { Style } from "../terminal/output.ts";
import { ago } from "../terminal/time.ts";
import { padEnd } from "../terminal/width.ts";

interface InstallFlags extends ChangeFlags {
  readonly project?: string;
}

interface StatusFlags {
  readonly project?: string;
  readonly json?: boolean;
}

const project = textFlag("DIR", "Only in this project, not for all");

const NAMES = CODING_AGENTS.map(({ name }) => name);

const agentWord = {
  brief: `One of ${NAMES.join(", ")}`,
  placeholder: "AGENT",
  parse: agentNamed,
  proposeCompletions: (partial: string) => NAMES.filter((name) => name.startsWith(partial)),
};

/** Without a name: all that are found on this machine, or installed. */
function change(verb: ChangeVerb, does: string, examples: readonly Example[]) {
  return buildCommand<InstallFlags, [CodingAgent?], Context>({
    docs: about(`${does}. ${KEPT}`, ...examples),
    parameters: {
      flags: { project, ...changeFlags },
      positional: { kind: "tuple", parameters: [{ ...agentWord, optional: true }] },
    },
    async func(flags, only) {
      const scene = sceneOf(this, flags.project);
      const agents = only ? [only] : CODING_AGENTS.filter((each) => existsSync(each.home(scene)));
      const plans: AgentChange[] = [];
      for (const agent of agents) {
        try {
          plans.push({ agent, plan: agent.install[verb](scene) });
        } catch (error) {
          if (only) throw error;
          await tellLeftOut(this, agent, error);
        }
      }
      const changes = plans.filter(({ plan }) => plan.before !== plan.after);
      if (changes.length === 0) return tellNothing(this, verb, only && plans[0]);
      const proposal: Proposal = {
        show: () => propose(this, changes, flags.dryRun === true),
        question: verb === "install" ? "Install our hooks there?" : "Take our hooks out?",
      };
      if (!(await isAgreed(this, flags, proposal))) return;
      const done = verb === "install" ? "installed in" : "taken out of";
      for (const { agent, plan } of changes) {
        await carryOut(this, plan, `${agent.title}: ${done} ${shownPlan(this, plan.path)}`);
        if (verb === "install") await this.out.line(`  next: ${agent.install.next}`);
      }
    },
  });
}

interface AgentChange {
  readonly agent: CodingAgent;
  readonly plan: Plan;
}

/** The files, or every line that changes in them. */
async function propose(
  context: Context,
  changes: readonly AgentChange[],
  isWhole: boolean,
): Promise<void> {
  for (const { agent, plan } of changes) {
    if (isWhole) await showPlan(context, plan);
    else await context.out.line(`${padEnd(agent.title, 12)} ${shownPlan(context, plan.path)}`);
  }
}

/** One whose settings cannot be read does not keep the others from their hooks. */
async function tellLeftOut(context: Context, agent: CodingAgent, error: unknown): Promise<void> {
  await context.err.line(`${agent.title} is left out: ${clean(problemText(error))}`);
  context.endWith(exitCodeOf(error));
}

async function tellNothing(context: Context, verb: ChangeVerb, only?: AgentChange): Promise<void> {
  if (only) {
    const state = verb === "install" ? "is installed already in" : "is not installed in";
    return context.out.line(`${only.agent.title} ${state} ${shownPlan(context, only.plan.path)}`);
  }
  const state = verb === "install" ? "All that are found are installed" : "None is installed";
  await context.out.line(`${state}: rollcall hooks status`);
}

const KEPT =
  "Shows whose settings would change, and\n" +
  "asks. All else in them stays as it is, to the byte, and what was there is kept beside it.";

const install = change("install", "Make coding agents show up by themselves", [
  { call: "rollcall hooks install", does: "all that are found here" },
  { call: "rollcall hooks install claude-code --yes", does: "in ~/.claude/settings.json" },
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
      const heard = lastHeard(agent.name, this.env);
      const { what = null, atMs = null } = heard ?? {};
      return { host: agent.name, ...standingOf(agent, scene), heard: what, heardAtMs: atMs };
    });
    if (flags.json) await this.out.line(cleanJson({ hosts: rows }));
    else for (const row of rows) await showStanding(this, row, flags);
    if (rows.every(({ state }) => state !== "installed")) this.endWith(EXIT.nothingFound);
  },
});

type HookRow = Omit<InstallCondition, "state"> & {
  readonly host: string;
  readonly state: InstallCondition["state"] | "unreadable";
  /** The last fact that its hooks told, and when. */
  readonly heard: string | null;
  readonly heardAtMs: number | null;
};

/** One that cannot be read does not keep the others from being told. */
function standingOf(
  { install: installer }: CodingAgent,
  scene: Scene,
): Omit<HookRow, "host" | "heard" | "heardAtMs"> {
  try {
    return installer.standing(scene);
  } catch (error) {
    return { path: "", state: "unreadable", details: problemText(error), warnings: [] };
  }
}

const STATE_STYLES: Readonly<Record<HookRow["state"], Style>> = {
  installed: "green",
  partly: "yellow",
  outdated: "yellow",
  absent: "dim",
  unreadable: "red",
};

const WORDS: Readonly<Record<HookRow["state"], string>> = {
  installed: "installed",
  partly: "in part",
  outdated: "out of date",
  absent: "not installed",
  unreadable: "unreadable",
};

async function showStanding(
  context: Context,
  row: HookRow,
  { project: folder }: StatusFlags,
): Promise<void> {
  const { out } = context;
  const state = out.paint(STATE_STYLES[row.state], padEnd(WORDS[row.state], 13));
  const isThere = row.state === "installed" || row.state === "partly" || row.state === "outdated";
  const file = [shownPlan(context, row.path), isThere && `(${row.details})`]
    .filter(Boolean)
    .join(" ");
  await out.line(`${padEnd(row.host, 11)}  ${state}  ${file || clean(row.details)}`);
  if (isThere) {
    const { heard, heardAtMs } = row;
    const when = heardAtMs === null ? "nothing yet" : `${heard}, ${ago(heardAtMs, Date.now())}`;
    await out.line(`${" ".repeat(28)}${out.paint("dim", "last heard:")} ${clean(when)}`);
  }
  for (const warning of row.warnings) {
    await out.line(`${" ".repeat(28)}${out.paint("yellow", "warning:")} ${clean(warning)}`);
  }
  if (row.state === "partly" || row.state === "outdated") {
    const where = folder === undefined ? "" : ` --project ${clean(quoted(folder))}`;
    const fix = `rollcall hooks install ${row.host}${where}`;
    await out.line(`${" ".repeat(28)}${out.paint("dim", "fix:")} ${fix}`);
  }
}

export const hooks = { status, install, uninstall } as const;
