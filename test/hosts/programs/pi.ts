/** Pi under both of its names, with our extension. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ExpectedRow } from "../fleet.ts";
import type { Program } from "../program.ts";
import type { Stage } from "../stage.ts";
import type { Terminal } from "../terminal.ts";
import { NODE, nodePath } from "./node.ts";

const WORKING: ExpectedRow = { headline: "WORKING" };
const IDLE: ExpectedRow = { headline: "IDLE" };

/** On its screen when it takes a prompt, while it works, and while a dialog is open. */
const READY = "/100k (auto)";
const BUSY = /Working|Retrying/;
const DIALOG = "enter select";

export const pi: Program = {
  name: "pi",
  package: "@earendil-works/pi-coding-agent",
  versions: ["0.87.1"],
  also: [NODE],
  play: (stage) => play(stage, "@earendil-works/pi-coding-agent/dist/bundle/cli.js"),
};

export const oldPi: Program = {
  name: "pi-0.73",
  shownAs: "pi",
  package: "@mariozechner/pi-coding-agent",
  versions: ["0.73.1"],
  also: [NODE],
  play: (stage) => play(stage, "@mariozechner/pi-coding-agent/dist/cli.js"),
};

/** On the Node that runs the tests, and in a quarter of the time. */
export const brieflyPi: Program = {
  name: "pi-brief",
  shownAs: "pi",
  package: "@mariozechner/pi-coding-agent",
  versions: ["0.73.1"],
  isBrief: true,
  async play(stage) {
    const program = "node_modules/@mariozechner/pi-coding-agent/dist/cli.js";
    const command = prepare(stage, process.execPath, join(stage.folder, program));
    const terminal = await firstTurn(stage, command);
    await permission(stage, terminal);
    await stage.moment("killed", { act: () => terminal.kill(), rows: [] });
  },
};

async function play(stage: Stage, program: string): Promise<void> {
  const command = prepare(stage, nodePath(), join(stage.folder, "node_modules", program));
  const terminal = await firstTurn(stage, command);
  await permission(stage, terminal);
  await dialogs(stage, terminal);
  await endings(stage, terminal);
  await terminals(stage, terminal, command);
  await asPackage(stage, command);
}

/** As people write them: it asks before it lets a command run, and has a tool that asks. */
const GATE = `export default (pi) => {
  pi.on("tool_call", async ({ toolName, input }, { ui }) => {
    if (toolName !== "bash" || !input.command.includes("touch")) return undefined;
    const answer = await ui.select("Run " + input.command + "?", ["Yes", "No"]);
    return answer === "Yes" ? undefined : { block: true, reason: "Blocked by user" };
  });
  pi.registerTool({
    name: "ask_user",
    label: "Ask",
    description: "Asks the user.",
    parameters: { type: "object", properties: { questions: { type: "array" } } },
    async execute(id, { questions: [{ question, options }] }, signal, onUpdate, { ui }) {
      const answer = await ui.select(question, options.map(({ label }) => label));
      return { content: [{ type: "text", text: String(answer) }], details: {} };
    },
  });
};
`;

function prepare(stage: Stage, node: string, program: string): string {
  stage.tellAll({ PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1" });
  const model = { id: "mock", name: "mock", contextWindow: 100_000, maxTokens: 10_000 };
  stage.write(".pi/agent/models.json", {
    providers: {
      mock: {
        baseUrl: `${stage.model.url}/v1`,
        api: "openai-completions",
        apiKey: "test",
        models: [
          {
            ...model,
            reasoning: false,
            input: ["text"],
            cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
          },
        ],
      },
    },
  });
  stage.write(".pi/agent/extensions/gate.ts", GATE);
  stage.run("rollcall", "hooks", "install", "pi", "--yes");
  return `${node} ${program} --provider mock --model mock`;
}

async function firstTurn(stage: Stage, command: string): Promise<Terminal> {
  const terminal = stage.terminal(command);
  await stage.moment("start", {
    act: () => terminal.shows(READY),
    rows: [{ ...IDLE, pane: terminal.pane }],
  });
  await stage.moment("prompt, stream", {
    act: async () => {
      await terminal.enter("please [[slow 4]]");
      await terminal.shows("word0");
    },
    rows: [WORKING],
  });
  await stage.moment("turn over", { act: () => terminal.hides(BUSY), rows: [IDLE] });
  return terminal;
}

function asks(terminal: Terminal, prompt: string): () => Promise<void> {
  return async () => {
    await terminal.enter(prompt);
    await terminal.shows(DIALOG);
  };
}

function answer(terminal: Terminal, ...keys: readonly string[]): () => Promise<void> {
  return async () => {
    for (const key of keys) terminal.press(key);
    await terminal.hides(DIALOG);
  };
}

function asked(command: string): ExpectedRow {
  return { headline: "NEEDS YOU", asks: `Run ${command}?`, options: ["Yes", "No"] };
}

async function permission(stage: Stage, terminal: Terminal): Promise<void> {
  await stage.moment("an extension asks", {
    act: asks(terminal, "[[sh touch made && sleep 4]]"),
    rows: [asked("touch made && sleep 4")],
  });
  await stage.moment("granted: the tool runs", {
    act: answer(terminal, "Enter"),
    rows: [WORKING],
  });
  await stage.moment("tool and turn over", { act: () => terminal.hides(BUSY), rows: [IDLE] });
}

async function dialogs(stage: Stage, terminal: Terminal): Promise<void> {
  await stage.moment("asks again", {
    act: asks(terminal, "[[sh touch no]]"),
    rows: [asked("touch no")],
  });
  await stage.moment("denied", { act: answer(terminal, "Down", "Enter"), rows: [IDLE] });
  await stage.moment("asks once more", {
    act: asks(terminal, "[[sh touch never]]"),
    rows: [asked("touch never")],
  });
  await stage.moment("escaped", { act: answer(terminal, "Escape"), rows: [IDLE] });
  await stage.moment("question", {
    act: asks(terminal, "[[ask]]"),
    rows: [
      {
        headline: "NEEDS YOU",
        asks: "Which color should the button be?",
        options: ["Red", "Blue"],
      },
    ],
  });
  await stage.moment("question answered", { act: answer(terminal, "Enter"), rows: [IDLE] });
}

async function endings(stage: Stage, terminal: Terminal): Promise<void> {
  await stage.moment("stream escaped", {
    act: async () => {
      await terminal.enter("more [[slow 30]]");
      await terminal.shows(BUSY);
      terminal.press("Escape");
      await terminal.hides(BUSY);
    },
    rows: [IDLE],
  });
  await stage.moment("API error", {
    act: async () => {
      await terminal.enter("[[fail]]");
      await terminal.shows("fails as told");
    },
    rows: [{ headline: "PROBLEM", why: /fails as told/ }],
  });
  await stage.moment("retry", {
    act: async () => {
      await terminal.enter("try [[flaky 4]]");
      await terminal.shows(BUSY);
    },
    rows: [WORKING],
  });
  await stage.moment("retry answers", { act: () => terminal.shows("word0"), rows: [WORKING] });
  await stage.moment("retry over", { act: () => terminal.hides(BUSY), rows: [IDLE] });
}

async function terminals(stage: Stage, first: Terminal, command: string): Promise<void> {
  await stage.moment("/new", {
    act: async () => {
      await first.enter("/new");
      await first.shows("New session started");
    },
    rows: [{ ...IDLE, pane: first.pane }],
  });
  const second = stage.terminal(command);
  await stage.moment("second terminal works", {
    act: async () => {
      await second.shows(READY);
      await second.enter("there [[slow 4]]");
      await second.shows("word0");
    },
    rows: [
      { ...IDLE, pane: first.pane },
      { ...WORKING, pane: second.pane },
    ],
  });
  await stage.moment("second terminal killed", {
    act: () => second.kill(),
    rows: [{ ...IDLE, pane: first.pane }],
  });
  stage.check("nothing on its screen", () => {
    const lines = first.screen.split("\n").filter((line) => /rollcall/i.test(line));
    // Pi lists its extensions by the names of their files.
    return lines.every((line) => line.includes("rollcall.ts")) ? undefined : lines.join("\n");
  });
  await stage.moment("quit", {
    act: async () => {
      await first.enter("/quit");
      await first.ends();
    },
    rows: [],
  });
}

/** As `pi install` takes it, without the file that `hooks install` wrote. */
async function asPackage(stage: Stage, command: string): Promise<void> {
  stage.run("rollcall", "hooks", "uninstall", "pi", "--yes");
  stage.check("uninstalled", () => {
    const path = join(stage.home, ".pi/agent/extensions/rollcall.ts");
    return existsSync(path) ? `${path} is there` : undefined;
  });
  const [node = "", program = ""] = command.split(" ");
  stage.run(node, program, "install", stage.rollcall);
  const terminal = stage.terminal(command);
  await stage.moment("pi install", {
    act: () => terminal.shows(READY),
    rows: [{ ...IDLE, pane: terminal.pane }],
  });
  await stage.moment("killed", { act: () => terminal.kill(), rows: [] });
}
