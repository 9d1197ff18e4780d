/** Claude Code. Its licence is proprietary: it is installed only when it is named. */
import { join } from "node:path";
import type { Program } from "../program.ts";
import type { Stage } from "../stage.ts";

export const claudeCode: Program = {
  name: "claude-code",
  package: "@anthropic-ai/claude-code",
  versions: ["2.1.197", "2.1.325"],
  isProprietary: true,
  async play(stage) {
    const claude = prepare(stage);
    const terminal = stage.terminal(claude);
    await stage.moment("start", {
      act: () => terminal.shows("? for shortcuts"),
      rows: [{ headline: "IDLE", pane: terminal.pane }],
    });
  },
};

function prepare(stage: Stage): string {
  stage.tellAll({
    ANTHROPIC_BASE_URL: stage.model.url,
    ANTHROPIC_API_KEY: "test",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
  });
  stage.write(".claude.json", {
    hasCompletedOnboarding: true,
    customApiKeyResponses: { approved: ["test"] },
    projects: { [stage.project]: { hasTrustDialogAccepted: true } },
  });
  stage.run("rollcall", "hooks", "install", "claude-code");
  const platform = `@anthropic-ai/claude-code-${process.platform}-${process.arch}`;
  return join(stage.folder, "node_modules", platform, "claude");
}
