/** Copilot CLI, with our hooks. Its licence is proprietary: installed only when it is named. */
import { join } from "node:path";
import { IDLE, type Day } from "../day.ts";
import type { Manners } from "../manners.ts";
import { checkNotRun, killed, playDay } from "../moments.ts";
import type { Program } from "../program.ts";
import type { Stage } from "../stage.ts";

const MANNERS: Manners = {
  ready: "/ commands",
  busy: /esc interrupt/,
  dialog: "enter to select",
  choice: "Copilot needs information",
  asksToRun: (command) => ({ headline: "NEEDS YOU", asks: `Run command: ${command}` }),
  asksToWrite: (path) => ({ headline: "NEEDS YOU", asks: `Edit file: ${path}` }),
  no: ["Down", "Down", "Enter"],
  alone: ["-p"],
  mindsPastes: true,
  knownByPrompt: "always",
  interrupt: (terminal) => terminal.press("C-c"),
  // Its process is looked at every two seconds.
  lateMs: { gone: 3_000 },
};

export const copilot: Program = {
  name: "copilot",
  package: "@github/copilot",
  versions: ["1.0.102"],
  isProprietary: true,
  play: (stage) =>
    playDay(stage, prepare(stage), {
      agent: "copilot",
      manners: MANNERS,
      instead: { denial, end: killed },
    }),
};

/** With its no goes what to do instead, with which it goes on. */
async function denial(day: Day): Promise<void> {
  await day.asksToRun("asks once more", "touch never");
  const act = async () => {
    for (const key of MANNERS.no.slice(0, -1)) await day.terminal.move(key);
    await day.terminal.type("rather not");
    await day.answer("Enter");
    await day.rests();
  };
  await day.moment("denied", act, { rows: [IDLE] });
  checkNotRun(day);
}

function prepare(stage: Stage): string {
  stage.tellAll({
    COPILOT_PROVIDER_BASE_URL: `${stage.model.url}/v1`,
    COPILOT_PROVIDER_API_KEY: "test",
    COPILOT_MODEL: "mock",
    COPILOT_AUTO_UPDATE: "false",
  });
  stage.write(".copilot/config.json", { trusted_folders: [stage.project], banner: "never" });
  const platform = `@github/copilot-${process.platform}-${process.arch}`;
  return join(stage.folder, "node_modules", platform, "copilot");
}
