/** Pi, under both of its names, with our extension. */
import { join } from "node:path";
import { Day } from "../day.ts";
import type { Manners } from "../manners.ts";
import { killed, MOMENTS, playDay } from "../moments.ts";
import type { Program } from "../program.ts";
import type { Stage } from "../stage.ts";
import { NODE, nodePath } from "./node.ts";

const MANNERS: Manners = {
  ready: "/100k (auto)",
  busy: /Working|Retrying/,
  dialog: "enter select",
  choice: "enter select",
  alone: ["-p"],
  asksToRun: (command) => ({
    headline: "NEEDS YOU",
    asks: `Run ${command}?`,
    options: ["Yes", "No"],
  }),
  no: ["Down", "Enter"],
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
    const day = new Day(stage, MANNERS, command);
    for (const scene of [MOMENTS.start, MOMENTS.turn, MOMENTS.permission, killed]) await scene(day);
  },
};

/** The same on a machine that reports to a team: the team's rows are right in the same time. */
export const outpostPi: Program = { ...brieflyPi, name: "pi-outpost", isOutpost: true };

async function play(stage: Stage, program: string): Promise<void> {
  const command = prepare(stage, nodePath(), join(stage.folder, "node_modules", program));
  await playDay(stage, command, {
    agent: "pi",
    manners: MANNERS,
    instead: {
      write: "Pi asks nothing by itself, and the extension that does asks about commands",
      subagent: "subagents are other extensions'",
      clear: beginsAnew,
    },
  });
  await asPackage(new Day(stage, MANNERS, command));
}

async function beginsAnew(day: Day): Promise<void> {
  const rows = [{ ...day.atRest, isNew: true }];
  await day.moment("/new", () => day.say("/new", "New session started"), { rows });
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
async function asPackage(day: Day): Promise<void> {
  const [node = "", program = ""] = day.command.split(" ");
  day.stage.run(node, program, "install", day.stage.rollcall);
  await day.moment("pi install", () => day.begins(), { rows: [day.atRest] });
  await killed(day);
}
