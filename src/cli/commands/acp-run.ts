/** `rollcall acp run` and `record`. Here for their help; bin/acp.ts is faster. */
import { buildCommand, type Command } from "@stricli/core";
import type { Context } from "../context.ts";
import { daemonFlags, textFlag } from "../flags.ts";
import { about, kebab } from "../help.ts";
import { INJECTIONS } from "../../wires/acp/proxy/injection.ts";

interface Flags {
  readonly inject?: string;
  readonly url?: string;
  readonly context?: string;
  readonly statusDir?: string;
}

const flags = {
  inject: textFlag("MODE", `Send the status to the client, too: ${INJECTIONS.join(", ")} [off]`),
  url: daemonFlags.url,
  context: daemonFlags.context,
  statusDir: textFlag("DIR", "Where status files are [AGENT_STATUS_DIR]"),
} as const;

/** As the proxy reads them. */
function wordsOf(given: Flags): readonly string[] {
  return Object.entries(given).flatMap(([name, value]: [string, string | undefined]) =>
    value === undefined ? [] : [`--${kebab(name)}=${value}`],
  );
}

const command = { brief: "The agent's command", placeholder: "-- COMMAND", parse: String } as const;

const WHAT =
  "The proxy: an editor starts it instead of its agent. Every byte goes through, both ways;\n" +
  "exit code, signals and stderr are the agent's. The proxy derives the status and publishes it.";

const INJECT =
  "--inject meta says it in session_info_update._meta, ext as _rollcall/agent_status, variant\n" +
  "as agent_status_update; auto as the client asks for it. Only inside a turn, and not to a\n" +
  "client that complains. flat is the example of the proposal, which no schema of ACP allows:\n" +
  "clients that check what they get log an error for each, some fail at it.";

export const acpRun: Command<Context> = buildCommand<Flags, string[], Context>({
  docs: about(
    `${WHAT}\n\n${INJECT}`,
    { call: "rollcall acp -- gemini --acp", does: "the word `run` may be left out" },
    { call: "rollcall acp --inject=meta -- npx my-agent", does: "for a client that shows it" },
  ),
  parameters: { flags, positional: { kind: "array", parameter: command } },
  async func(given, ...words) {
    await (await import("../acp/run.ts")).runProxy([...wordsOf(given), "--", ...words]);
  },
});

export const acpRecord: Command<Context> = buildCommand<Flags, string[], Context>({
  docs: about(
    `${WHAT}\n\nThe frames go into FILE, for you alone; secrets and long texts are taken out.`,
    { call: "rollcall acp record talk.jsonl -- gemini --acp", does: "in place of the agent" },
    { call: "rollcall acp replay talk.jsonl", does: "shows the timeline" },
  ),
  parameters: {
    flags,
    positional: {
      kind: "array",
      parameter: {
        ...command,
        brief: "FILE, then -- and the agent's command",
        placeholder: "FILE -- COMMAND",
      },
    },
  },
  async func(given, file = "", ...words) {
    const { runProxy } = await import("../acp/run.ts");
    await runProxy(["record", file, ...wordsOf(given), "--", ...words]);
  },
});
