/** Copilot CLI, with our hooks. Its licence is proprietary: installed only when it is named. */
import { join } from "node:path";
import type { ExpectedRow } from "../fleet.ts";
import type { Program } from "../program.ts";
import type { Stage } from "../stage.ts";
import type { Terminal } from "../terminal.ts";

const WORKING: ExpectedRow = { headline: "WORKING" };
const IDLE: ExpectedRow = { headline: "IDLE" };

/** On its screen while it works, and while it asks. */
const BUSY = /esc interrupt/;
const DIALOG = "enter to select";

/** The second source is looked at every two seconds. */
const WITHIN_MS = 4_500;

export const copilot: Program = {
  name: "copilot",
  package: "@github/copilot",
  versions: ["1.0.102"],
  isProprietary: true,
  async play(stage) {
    const terminal = stage.terminal(prepare(stage));
    await turn(stage, terminal);
    await dialogs(stage, terminal);
    await stage.moment("stream interrupted", {
      act: async () => {
        await terminal.enter("more [[slow 30]]");
        await terminal.shows(BUSY);
        terminal.press("C-c");
        await terminal.hides(BUSY);
      },
      rows: [IDLE],
      withinMs: WITHIN_MS,
    });
    stage.check("nothing on its screen", () =>
      /rollcall/i.test(terminal.screen) ? terminal.screen : undefined,
    );
    await stage.moment("killed", { act: () => terminal.kill(), rows: [], withinMs: WITHIN_MS });
  },
};

function prepare(stage: Stage): string {
  stage.tellAll({
    COPILOT_PROVIDER_BASE_URL: `${stage.model.url}/v1`,
    COPILOT_PROVIDER_API_KEY: "test",
    COPILOT_MODEL: "mock",
    COPILOT_AUTO_UPDATE: "false",
  });
  stage.write(".copilot/config.json", { trusted_folders: [stage.project], banner: "never" });
  stage.run("rollcall", "hooks", "install", "copilot", "--yes");
  const platform = `@github/copilot-${process.platform}-${process.arch}`;
  return join(stage.folder, "node_modules", platform, "copilot");
}

async function turn(stage: Stage, terminal: Terminal): Promise<void> {
  await stage.moment("start: no session yet", {
    act: () => terminal.shows("/ commands"),
    rows: [],
  });
  await stage.moment("prompt, stream", {
    act: async () => {
      await terminal.enter("please [[slow 5]]");
      await terminal.shows("word0");
    },
    rows: [{ ...WORKING, pane: terminal.pane }],
  });
  await stage.moment("turn over", { act: () => terminal.hides(BUSY), rows: [IDLE] });
}

async function dialogs(stage: Stage, terminal: Terminal): Promise<void> {
  const asks = (command: string) => async () => {
    await terminal.enter(`[[sh ${command}]]`);
    await terminal.shows(DIALOG);
  };
  const answer = (key: string) => async () => {
    terminal.press(key);
    await terminal.hides(DIALOG);
  };
  await stage.moment("asks", {
    act: asks("touch made && sleep 6"),
    rows: [{ headline: "NEEDS YOU", asks: "Run command: touch made && sleep 6" }],
  });
  await stage.moment("granted: the tool runs", {
    act: answer("Enter"),
    rows: [WORKING],
    withinMs: WITHIN_MS,
  });
  await stage.moment("tool and turn over", {
    act: async () => {
      await terminal.shows("Done: the tool has run");
      await terminal.hides(BUSY);
    },
    rows: [IDLE],
  });
  await stage.moment("asks again", {
    act: asks("touch no"),
    rows: [{ headline: "NEEDS YOU", asks: "Run command: touch no" }],
  });
  await stage.moment("escaped", { act: answer("Escape"), rows: [IDLE], withinMs: WITHIN_MS });
}
