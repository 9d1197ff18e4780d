/** OpenCode, with our plugin. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Day, IDLE, WORKING, type Manners } from "../day.ts";
import type { Program } from "../program.ts";
import type { Stage } from "../stage.ts";

const MANNERS: Manners = {
  ready: "Ask anything",
  busy: /esc (?:again|interrupt)|retrying/i,
  dialog: "Permission required",
  choice: "esc dismiss",
  asksToRun: (command) => ({ headline: "NEEDS YOU", asks: `bash: ${command}` }),
  async interrupt(terminal) {
    terminal.press("Escape");
    await terminal.shows("esc again");
    terminal.press("Escape");
  },
};

export const openCode: Program = {
  name: "opencode",
  package: "opencode-ai",
  versions: ["1.18.33"],
  async play(stage) {
    const opencode = prepare(stage);
    const uninstall = stage.install("opencode");
    const day = new Day(stage, MANNERS, stage.terminal(opencode));
    await day.start([]);
    await day.turn();
    await permissions(stage, day);
    await day.subagent();
    await day.question();
    await day.dismisses();
    await day.interrupts();
    await day.fails();
    await day.retries();
    await day.secondTerminal(opencode);
    await beginsAnew(stage, day);
    await day.killed();
    uninstall();
  },
};

/** Without its packages there OpenCode asks the registry for them first, in vain here. */
const LOCK = { packages: { "": { dependencies: { "@opencode-ai/plugin": "*" } } } };

function prepare(stage: Stage): string {
  stage.tellAll({
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
  });
  const folder = ".config/opencode";
  mkdirSync(join(stage.home, folder, "node_modules"), { recursive: true });
  stage.write(`${folder}/package-lock.json`, LOCK);
  stage.write(`${folder}/opencode.json`, {
    model: "mock/mock",
    small_model: "mock/mock",
    share: "disabled",
    permission: { bash: "ask", edit: "ask" },
    provider: {
      mock: {
        npm: "@ai-sdk/openai-compatible",
        name: "Mock",
        options: { baseURL: `${stage.model.url}/v1`, apiKey: "test" },
        models: { mock: { name: "mock", tool_call: true } },
      },
    },
  });
  const platform = `opencode-${process.platform}-${process.arch}`;
  return join(stage.folder, "node_modules", platform, "bin/opencode");
}

async function permissions(stage: Stage, day: Day): Promise<void> {
  await day.permission();
  await day.asks("asks with options", "[[sh touch more && sleep 1]]", {
    headline: "NEEDS YOU",
    asks: "bash: touch more && sleep 1",
    options: ["allow once", "allow always: touch *, sleep *", "reject"],
  });
  const deny = () => day.answer("Right", "Right", "Enter");
  await stage.moment("denied", { act: deny, rows: [IDLE] });
  await day.asks("asks to write", "[[write made.txt]]", {
    headline: "NEEDS YOU",
    asks: /^edit: .*made\.txt$/,
  });
  await stage.moment("denied to write", { act: deny, rows: [IDLE] });
  await day.escapes();
}

/** The session before it can be chosen again, in this process, and so is still there. */
async function beginsAnew(stage: Stage, day: Day): Promise<void> {
  await stage.moment("/new", {
    act: async () => {
      await day.say("/new", MANNERS.ready);
      await day.say("anew [[slow 5]]", "word0");
    },
    rows: [IDLE, WORKING],
  });
}
