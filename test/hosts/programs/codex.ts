/** Codex. Its hooks run once a person trusted them, which is done here in its own dialog. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { IDLE, WORKING } from "../day.ts";
import type { ExpectedRow } from "../fleet.ts";
import type { Program } from "../program.ts";
import type { Stage } from "../stage.ts";
import type { Terminal } from "../terminal.ts";

const REASON = "(May I run this outside the sandbox?)";
const ready = "for shortcuts";

const needs = (command: string) =>
  ({ headline: "NEEDS YOU", asks: `Bash: ${command} ${REASON}` }) as const;

export const codex: Program = {
  name: "codex",
  package: "@openai/codex",
  versions: ["0.166.0"],
  async play(stage) {
    const program = prepare(stage);
    const a = stage.terminal(program);
    await stage.moment("start, hooks not trusted yet", {
      act: () => a.shows("Trust all and continue"),
      rows: [],
    });
    stage.check("hooks status: not trusted", () => wordOfStatus(stage, /not trusted/));
    await stage.moment("trusted, start", {
      act: () => trust(a),
      rows: [{ ...IDLE, pane: a.pane }],
    });
    stage.check("hooks status: trusted", () => wordOfStatus(stage, /installed(?![^]*not trusted)/));
    await withoutTerminal(stage, program, { ...IDLE, pane: a.pane });
    await turns(stage, a);
    await permissions(stage, a);
    await subagents(stage, a);
    await terminals(stage, program, a);
    uninstall(stage);
    stage.checkHookCost("codex");
  },
};

function prepare(stage: Stage): string {
  stage.tellAll({ MODEL_KEY: "test" });
  stage.write(
    ".codex/config.toml",
    [
      'model = "gpt-5-codex"',
      'model_provider = "mock"',
      'approval_policy = "on-request"',
      "[model_providers.mock]",
      'name = "mock"',
      `base_url = "${stage.model.url}/v1"`,
      'env_key = "MODEL_KEY"',
      'wire_api = "responses"',
      `[projects."${stage.project}"]`,
      'trust_level = "trusted"',
      "",
    ].join("\n"),
  );
  stage.run("rollcall", "hooks", "install", "codex", "--yes");
  const target = `${process.arch === "arm64" ? "aarch64" : "x86_64"}-unknown-linux-musl`;
  const platform = `@openai/codex-${process.platform}-${process.arch}`;
  return join(stage.folder, "node_modules", platform, "vendor", target, "bin", "codex");
}

function wordOfStatus(stage: Stage, wanted: RegExp): string | undefined {
  const said = stage.run("rollcall", "hooks", "status", "codex");
  return wanted.test(said) ? undefined : said.trim();
}

async function trust(a: Terminal): Promise<void> {
  a.press("2", "Enter");
  await a.shows(ready);
}

async function withoutTerminal(stage: Stage, program: string, other: ExpectedRow): Promise<void> {
  const run = stage.background(program, "exec", "--skip-git-repo-check", "[[slow 4]]");
  const rows = [other, WORKING];
  await stage.moment("exec: works", { act: () => stage.settled(...rows), rows });
  await stage.moment("exec: ends", { act: () => run, rows: [other], withinMs: 3_000 });
}

async function turns(stage: Stage, a: Terminal): Promise<void> {
  await stage.moment("prompt, stream", {
    act: () => say(a, "[[slow 8]]", "word1 "),
    rows: [{ ...WORKING, why: "[[slow 8]]", pane: a.pane }],
  });
  await stage.moment("turn over", { act: () => a.shows(/word15[^]*Worked for/), rows: [IDLE] });
  await stage.moment("stream again", {
    act: () => say(a, "again [[slow 20]]", "word1 "),
    rows: [WORKING],
  });
  await stage.moment("Esc in a stream", {
    act: async () => {
      a.press("Escape");
      await a.hides("esc to interrupt");
    },
    rows: [IDLE],
  });
  await stage.moment("API error", {
    act: () => say(a, "[[fail]]", "the model fails as told"),
    rows: [{ headline: "PROBLEM", why: /the model fails as told/ }],
  });
  await stage.moment("retry of an API error", {
    act: () => say(a, "[[flaky 8]]", "word1 "),
    rows: [WORKING],
  });
  await stage.moment("after the retry", {
    act: () => a.shows(/flaky[^]*word15[^]*Worked for/),
    rows: [IDLE],
  });
  await stage.moment("the answer ends with a question", {
    act: () => say(a, "[[q]]", "Shall I drop the table?"),
    rows: [{ headline: "NEEDS YOU", asks: "Shall I drop the table?" }],
  });
  await stage.moment("a question that it may not ask", {
    act: () => say(a, "[[ask]]", "Done: the tool has run"),
    rows: [IDLE],
  });
}

async function permissions(stage: Stage, a: Terminal): Promise<void> {
  await stage.moment("a tool asks", {
    act: () => say(a, "[[esc touch made && sleep 4]]", "Would you like"),
    rows: [needs("touch made && sleep 4")],
  });
  await stage.moment("granted, the tool runs", { act: () => answer(a, "y"), rows: [WORKING] });
  await stage.moment("tool and turn over", {
    act: () => a.shows(/Ran touch made[^]*Worked for/),
    rows: [IDLE],
  });
  await stage.moment("asks again", {
    act: () => say(a, "[[esc touch no]]", "Would you like"),
    rows: [needs("touch no")],
  });
  await stage.moment("denied", { act: () => answer(a, "Escape"), rows: [IDLE] });
}

async function subagents(stage: Stage, a: Terminal): Promise<void> {
  await stage.moment("a subagent asks", {
    act: () => say(a, "[[sub please <<esc touch sub && sleep 4>>]]", "Would you like"),
    rows: [needs("touch sub && sleep 4")],
  });
  await stage.moment("granted, the subagent works", { act: () => answer(a, "y"), rows: [WORKING] });
  await stage.moment("the subagent is done", {
    act: () => stage.settled(IDLE),
    rows: [IDLE],
  });
}

async function terminals(stage: Stage, program: string, a: Terminal): Promise<void> {
  const b = stage.terminal(program);
  await stage.moment("a second terminal", {
    act: () => b.shows(ready),
    rows: [
      { ...IDLE, pane: a.pane },
      { ...IDLE, pane: b.pane },
    ],
  });
  await stage.moment("the second one asks", {
    act: () => say(b, "[[esc touch b]]", "Would you like"),
    rows: [
      { ...IDLE, pane: a.pane },
      { ...needs("touch b"), pane: b.pane },
    ],
  });
  await stage.moment("the second one is denied", {
    act: () => answer(b, "Escape"),
    rows: [
      { ...IDLE, pane: a.pane },
      { ...IDLE, pane: b.pane },
    ],
  });
  await stage.moment("/clear in the first one", {
    act: async () => {
      await a.enter("/clear");
      await a.shows(ready);
    },
    rows: [
      { ...IDLE, pane: a.pane, isNew: true },
      { ...IDLE, pane: b.pane },
    ],
  });
  await stage.moment("kill -9 of the second terminal", {
    act: () => b.kill(),
    rows: [{ ...IDLE, pane: a.pane }],
    // Looked at every 2 s.
    withinMs: 3_000,
  });
  await stage.moment("the first one is closed", {
    act: async () => {
      a.press("C-c");
      a.press("C-c");
      await a.ends();
    },
    rows: [],
    withinMs: 3_000,
  });
}

function uninstall(stage: Stage): void {
  stage.run("rollcall", "hooks", "uninstall", "codex", "--yes");
  stage.check("uninstalled without a trace", () => {
    try {
      return `hooks.json is now ${readFileSync(join(stage.home, ".codex/hooks.json"), "utf8")}`;
    } catch {
      return undefined;
    }
  });
}

async function say(terminal: Terminal, prompt: string, until: string | RegExp): Promise<void> {
  await terminal.enter(prompt);
  await terminal.shows(until);
}

/** At a dialog, which goes away then. */
async function answer(terminal: Terminal, key: string): Promise<void> {
  terminal.press(key);
  await terminal.hides("Would you like");
}
