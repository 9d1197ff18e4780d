/** Pi, under both of its names, with our extension. */
import { join } from "node:path";
import { Day, IDLE, WORKING, type Manners } from "../day.ts";
import type { Program } from "../program.ts";
import type { Stage } from "../stage.ts";
import { NODE, nodePath } from "./node.ts";

const MANNERS: Manners = {
  ready: "/100k (auto)",
  busy: /Working|Retrying/,
  dialog: "enter select",
  choice: "enter select",
  asksToRun: (command) => ({
    headline: "NEEDS YOU",
    asks: `Run ${command}?`,
    options: ["Yes", "No"],
  }),
};

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
    stage.install("pi");
    const day = new Day(stage, MANNERS, stage.terminal(command));
    await day.start();
    await day.turn();
    await day.permission();
    await day.killed();
  },
};

async function play(stage: Stage, program: string): Promise<void> {
  const command = prepare(stage, nodePath(), join(stage.folder, "node_modules", program));
  const uninstall = stage.install("pi");
  await withoutTerminal(stage, command);
  const day = new Day(stage, MANNERS, stage.terminal(command));
  await day.start();
  await day.turn();
  await day.permission();
  await day.escapes();
  await day.denies("Down", "Enter");
  await day.question();
  await day.interrupts();
  await day.fails();
  await day.retries();
  await stage.moment("/new", {
    act: () => day.say("/new", "New session started"),
    rows: [{ ...IDLE, pane: day.terminal.pane, isNew: true }],
  });
  await day.secondTerminal(command);
  await day.quits();
  uninstall();
  await asPackage(stage, command);
}

async function withoutTerminal(stage: Stage, command: string): Promise<void> {
  const [node = "", ...words] = command.split(" ");
  const run = stage.background(node, ...words, "-p", "[[slow 4]]");
  await stage.moment("-p: works", { act: () => stage.settled(WORKING), rows: [WORKING] });
  await stage.moment("-p: ends", { act: () => run, rows: [] });
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
  return `${node} ${program} --provider mock --model mock`;
}

/** As `pi install` takes it, without the file that `hooks install` wrote. */
async function asPackage(stage: Stage, command: string): Promise<void> {
  const [node = "", program = ""] = command.split(" ");
  stage.run(node, program, "install", stage.rollcall);
  const day = new Day(stage, MANNERS, stage.terminal(command));
  await stage.moment("pi install", {
    act: () => day.terminal.shows(MANNERS.ready),
    rows: [{ ...IDLE, pane: day.terminal.pane }],
  });
  await day.killed();
}
