/** OpenCode, with our plugin. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { IDLE, WORKING, type Day } from "../day.ts";
import type { Manners } from "../manners.ts";
import { killed, playDay } from "../moments.ts";
import type { Program } from "../program.ts";
import type { Stage } from "../stage.ts";
import { field, parseJson } from "../../../src/core/text.ts";
import { until } from "../../tour/until.ts";

const MANNERS: Manners = {
  ready: "Ask anything",
  busy: /esc (?:again|interrupt)|retrying/i,
  dialog: "Permission required",
  choice: "esc dismiss",
  alone: ["run"],
  asksToRun: (command) => ({ headline: "NEEDS YOU", asks: `bash: ${command}` }),
  asksToWrite: () => ({ headline: "NEEDS YOU", asks: /^edit: .*w\.txt$/ }),
  no: ["Right", "Right", "Enter"],
  knownByPrompt: "always",
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
    const opencode = prepareOpenCode(stage);
    await playDay(stage, opencode, {
      agent: "opencode",
      manners: MANNERS,
      instead: {
        clear: beginsAnew,
        end: killed,
      },
      after: { permission: options, end: served },
    });
  },
};

/** Without its packages there OpenCode asks the registry for them first, in vain here. */
const LOCK = { packages: { "": { dependencies: { "@opencode-ai/plugin": "*" } } } };

export function prepareOpenCode(stage: Stage): string {
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

const ADDRESS = "http://127.0.0.1:4096";

/** A request that comes while it starts may never be answered. */
const ANSWERS_MS = 10_000;

/** With a body it is told something, else asked. */
async function call(path: string, body?: object): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  const told = body && { method: "POST", headers, body: JSON.stringify(body) };
  const signal = AbortSignal.timeout(ANSWERS_MS);
  return parseJson(await (await fetch(ADDRESS + path, { ...told, signal })).text());
}

/** Without a terminal, and with a client of its API in place of a person. */
async function served({ stage, command }: Day): Promise<void> {
  const server = stage.start(command, "serve", "--port", new URL(ADDRESS).port);
  await until("a server", () => call("/session"));
  const id = String(field(await call("/session", {}), "id"));
  const prompt = (text: string) =>
    call(`/session/${id}/prompt_async`, { parts: [{ type: "text", text }] });
  const becomes = (state: string) =>
    until(`a session that is ${state}`, async () => {
      const found = field(field(await call("/session/status"), id), "type") ?? "idle";
      return found === state || undefined;
    });
  await stage.moment("serve: works", {
    async act() {
      await prompt("[[slow 6]]");
      await becomes("busy");
    },
    rows: [WORKING],
  });
  await stage.moment("serve: turn over", { act: () => ignore(becomes("idle")), rows: [IDLE] });
  await stage.moment("serve: asks", {
    async act() {
      await prompt("[[sh touch s && sleep 3]]");
      await until("a permission", async () => field(await call("/permission"), "0"));
    },
    rows: [MANNERS.asksToRun("touch s && sleep 3")],
  });
  await stage.moment("serve: killed while it asks", {
    act: () => void server.kill("SIGKILL"),
    rows: [],
  });
}

async function ignore(result: Promise<unknown>): Promise<void> {
  await result;
}

async function options(day: Day): Promise<void> {
  await day.asks("asks with options", "[[sh touch more && sleep 1]]", {
    headline: "NEEDS YOU",
    asks: "bash: touch more && sleep 1",
    options: ["allow once", "allow always: touch *, sleep *", "reject"],
  });
  await day.moment("rejected", () => day.answer(...MANNERS.no), { rows: [IDLE] });
}

/** The session before it can be chosen again, in this process, and so is still there. */
async function beginsAnew(day: Day): Promise<void> {
  const act = async () => {
    await day.say("/new", MANNERS.ready);
    await day.say("anew [[slow 5]]", "word0");
  };
  await day.moment("/new", act, { rows: [IDLE, WORKING] });
}
