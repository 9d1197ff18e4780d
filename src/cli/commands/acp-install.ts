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
import { apply } from "../../machine/settings/apply.ts";
import type { Context } from "../context.ts";
import { note } from "../daemon.ts";
import { EXIT } from "../exit.ts";
import { about, type Example } from "../help.ts";
import { sceneOf, showPlan, shown } from "../plans.ts";
import { clean } from "../terminal/clean.ts";

interface Flags {
  readonly write?: boolean;
}

const editorWord = {
  brief: EDITORS.join(" or "),
  placeholder: "EDITOR",
  parse: editorOf,
  proposeCompletions: (partial: string) => EDITORS.filter((each) => each.startsWith(partial)),
};

function editorOf(text: string): Editor {
  const editor = EDITORS.find((each) => each === text);
  if (editor) return editor;
  throw new Error(
    `not one of ${EDITORS.join(", ")}; elsewhere put \`rollcall acp --\` before the command`,
  );
}

const KEPT =
  "Shows what would change in its settings;\n" +
  "--write changes it. All else in them stays as it is, to the byte, and what was there is kept\n" +
  "beside it.";

function change(word: "install" | "uninstall", does: string, examples: readonly Example[]) {
  const write = {
    kind: "boolean",
    optional: true,
    withNegated: false,
    brief: "Change the settings",
  } as const;
  return buildCommand<Flags, [Editor], Context>({
    docs: about(`${does}. ${KEPT}`, ...examples),
    parameters: { flags: { write }, positional: { kind: "tuple", parameters: [editorWord] } },
    async func(flags, editor) {
      const scene = sceneOf(this, undefined);
      const plan = word === "install" ? planInstall(editor, scene) : planUninstall(editor, scene);
      await tellManaged(this, plan);
      if (plan.changed.length === 0) return tellNothing(this, plan, { editor, word });
      if (flags.write !== true) {
        await showPlan(this, plan);
        return this.out.line(`Nothing was changed yet: add --write to change it.`);
      }
      const backup = apply(plan);
      const agents = plan.changed.map(clean).join(", ");
      const done = word === "install" ? "behind the proxy now" : "out of the proxy again";
      const mark = this.out.paint("green", "✓");
      await this.out.line(`${mark} ${EDITOR_FACTS[editor].name}: ${done}: ${agents}`);
      if (backup !== undefined) await this.out.line(`  what was there: ${shown(this, backup)}`);
      await this.out.line(`  next: ${EDITOR_FACTS[editor].next}`);
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
  { editor, word }: { readonly editor: Editor; readonly word: "install" | "uninstall" },
): Promise<void> {
  const { name } = EDITOR_FACTS[editor];
  const where = shown(context, path);
  if (same.length > 0) {
    const state = word === "install" ? "already behind the proxy" : "not behind the proxy";
    return context.out.line(`${name}: ${state}: ${same.map(clean).join(", ")}`);
  }
  context.endWith(EXIT.nothingFound);
  if (word === "uninstall") return note(context, `${name}: there are no agents in ${where}`);
  await context.out.line(`${name}: there are no agents in ${where}. One that runs through it:`);
  const server = { command: "rollcall", args: ["acp", "--", "COMMAND", "ARGS…"] };
  const example = JSON.stringify({ agent_servers: { "My agent": server } }, null, 2);
  for (const line of example.split("\n")) await context.out.line(`  ${line}`);
}

export const acpInstall: Command<Context> = change(
  "install",
  "Put an editor's agents behind the proxy",
  [
    { call: "rollcall acp install zed", does: "shows what would change in settings.json" },
    { call: "rollcall acp install jetbrains --write", does: "changes ~/.jetbrains/acp.json" },
  ],
);

export const acpUninstall: Command<Context> = change(
  "uninstall",
  "Take an editor's agents out again",
  [{ call: "rollcall acp uninstall zed --write", does: "they run by themselves again" }],
);
