/** `rollcall hook`: what coding agents run. Here for its help; bin/rollcall.ts is faster. */
import { buildCommand } from "@stricli/core";
import type { Context } from "../context.ts";
import { argument } from "../flags.ts";
import { about } from "../help.ts";

export const hook = buildCommand<NonNullable<unknown>, [string], Context>({
  docs: about(
    "A coding agent runs this at every step: it reads the event as JSON on standard input and\n" +
      "updates the status file. It prints the answer that the agent expects and always ends\n" +
      "with 0; errors are in $XDG_STATE_HOME/rollcall/hooks/errors.log.",
    { call: "rollcall hooks install claude-code --yes", does: "makes Claude Code run it" },
    { call: "rollcall hook claude-code < event.json", does: "by hand, to try it" },
  ),
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [argument("NAME", "The coding agent: claude-code, codex …")],
    },
  },
  async func(_flags, host) {
    const { hook: run } = await import("../../coding-agents/hooks/hook.ts");
    await run(host);
  },
});
