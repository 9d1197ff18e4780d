/** `rollcall acp install` and `uninstall`: an editor's agents behind the proxy, and out again. */
import { buildCommand, type Command } from "@stricli/core";
import {
  EDITOR_FACTS,
  EDITORS,
  planInstall,
  planUninstall,
  type Editor,
  type EditorPlan,
} from "../../wires/acp/proxy/editors.ts";
import type { Context } from "../context.ts";
import { note } from "../print.ts";
import { EXIT } from "../exit.ts";
import { choiceArgument } from "../flags.ts";
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
} from "../plans.ts";
import { clean } from "../terminal/clean.ts";

interface Flags extends ChangeFlags {
  /** Its name before it was --yes. */
  readonly write?: boolean;
}

const editorWord = choiceArgument(
  "EDITOR",
  EDITORS,
  "; elsewhere put `rollcall acp --` before the command",
);

const KEPT =
  "Shows the change in its settings, and\n" +
  "asks. All else in them stays as it is, to the byte, and what was there is kept beside it.";

function change(verb: ChangeVerb, does: string, examples: readonly Example[]) {
  const flags = { ...changeFlags, write: { ...changeFlags.yes, hidden: true } } as const;
  return buildCommand<Flags, [Editor], Context>({
    docs: about(`${does}. ${KEPT}`, ...examples),
    parameters: {
      flags,
      positional: { kind: "tuple", parameters: [editorWord] },
    },
    async func({ dryRun = false, write = false, yes = write }, editor) {
      const scene = sceneOf(this, undefined);
      const plan = verb === "install" ? planInstall(editor, scene) : planUninstall(editor, scene);
      await tellManaged(this, plan);
      if (plan.changed.length === 0) return tellNothing(this, plan, { editor, verb });
      const agents = plan.changed.map(clean).join(", ");
      const question = `${verb === "install" ? "Put behind the proxy" : "Take out"}: ${agents}?`;
      const proposal = { show: () => showPlan(this, plan), question };
      if (!(await isAgreed(this, { dryRun, yes }, proposal))) return;
      const { name, next } = EDITOR_FACTS[editor];
      const done = verb === "install" ? "behind the proxy now" : "out of the proxy again";
      await carryOut(this, plan, `${name}: ${done}: ${agents}`);
      await this.out.line(`  next: ${next}`);
    },
  });
}

/** The editor starts them by itself: there is no command that ours could go before. */
async function tellManaged(context: Context, { managed }: EditorPlan): Promise<void> {
  if (managed.length === 0) return;
  const names = managed.map(clean).join(", ");
  await note(context, `${names}: fetched by the editor itself, without a command to change`);
}

async function tellNothing(
  context: Context,
  { path, same }: EditorPlan,
  { editor, verb }: { readonly editor: Editor; readonly verb: ChangeVerb },
): Promise<void> {
  const { name } = EDITOR_FACTS[editor];
  const where = shownPlan(context, path);
  if (same.length > 0) {
    const state = verb === "install" ? "already behind the proxy" : "not behind the proxy";
    return context.out.line(`${name}: ${state}: ${same.map(clean).join(", ")}`);
  }
  context.endWith(EXIT.nothingFound);
  if (verb === "uninstall") return note(context, `${name}: there are no agents in ${where}`);
  await context.out.line(`${name}: there are no agents in ${where}.`);
  await context.out.line("An agent behind the proxy stands there as:");
  const server = { command: "rollcall", args: ["acp", "--", "COMMAND", "ARGS…"] };
  const example = JSON.stringify({ agent_servers: { "My agent": server } }, null, 2);
  for (const line of example.split("\n")) await context.out.line(`  ${line}`);
}

export const acpInstall: Command<Context> = change(
  "install",
  "Put an editor's agents behind the proxy",
  [
    { call: "rollcall acp install zed", does: "shows the change, and asks" },
    { call: "rollcall acp install zed --dry-run", does: "only shows it" },
    { call: "rollcall acp install jetbrains --yes", does: "changes ~/.jetbrains/acp.json" },
  ],
);

export const acpUninstall: Command<Context> = change(
  "uninstall",
  "Take an editor's agents out again",
  [{ call: "rollcall acp uninstall zed", does: "they run by themselves again" }],
);
