import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, test, vi } from "vitest";
import { readBadge } from "../../src/coding-agents/hooks/attendance.ts";
import { hasProcess } from "../../src/machine/processes.ts";
import { readStatus } from "../../src/wires/files/read.ts";
import { environment, programFile, scratch } from "./programs.ts";

const PROGRAM = programFile("rollcall").replace(/\.js$/, ".cjs");
const SOON = { timeout: 20_000, interval: 20 };
/** Real processes on a machine that may be busy. */
const PATIENT = { timeout: 60_000 };

type Payload = Readonly<Record<string, unknown>>;

/** A home with nothing in it; sidecars leave when it goes. */
function home(extra: NodeJS.ProcessEnv = {}) {
  const folder = scratch();
  const env = environment(folder.path, { XDG_STATE_HOME: join(folder.path, "state"), ...extra });
  const sessions = join(folder.path, "state/rollcall/hooks");
  return {
    env,
    sessions,
    log: join(sessions, "errors.log"),
    file: (id: string) => join(folder.path, "state/agent-status", `${id}.json`),
    [Symbol.dispose]: folder[Symbol.dispose],
  };
}

type Home = ReturnType<typeof home>;

function status(at: Home, id: string) {
  const reading = readStatus(at.file(id));
  return reading.kind === "status" ? reading.status : undefined;
}

const stateOf = (at: Home, id: string) => {
  const found = status(at, id);
  return found ? (found.task?.state ?? "idle") : "gone";
};

/** Runs one hook, as if this test were the host. */
function fire(at: Home, payload: Payload | string, host = "claude-code") {
  const input = typeof payload === "string" ? payload : JSON.stringify(payload);
  const ended = spawnSync(process.execPath, [PROGRAM, "hook", host], {
    env: at.env,
    input,
    encoding: "utf8",
  });
  return { code: ended.status, stdout: ended.stdout, stderr: ended.stderr };
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

class Host implements AsyncDisposable {
  readonly #child;
  readonly #lines: AsyncIterator<string>;
  pid = 0;

  constructor(at: Home, name = "claude-code") {
    const script = fileURLToPath(new URL("./fake-host.mjs", import.meta.url));
    const args = [script, process.execPath, PROGRAM, "hook", name];
    this.#child = spawn(process.execPath, args, {
      env: at.env,
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  static async start(at: Home, name?: string): Promise<Host> {
    const host = new Host(at, name);
    host.pid = ((await host.#next()) as { host: number }).host;
    return host;
  }

  async #next(): Promise<unknown> {
    const line = await this.#lines.next();
    return line.done ? expect.fail("the host ended") : JSON.parse(line.value);
  }

  /** All at once. */
  async fire(...payloads: readonly Payload[]): Promise<readonly Ended[]> {
    for (const payload of payloads) this.#child.stdin.write(`${JSON.stringify(payload)}\n`);
    const ended: Ended[] = [];
    while (ended.length < payloads.length) ended.push((await this.#next()) as Ended);
    return ended;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.kill();
    return Promise.resolve();
  }
}

const say = (hook_event_name: string, more: Payload = {}): Payload => ({
  hook_event_name,
  session_id: "s1",
  cwd: "/project",
  ...more,
});

describe("a session with its host", PATIENT, () => {
  test("is shown from its start to its end, with the host's process", async () => {
    using at = home({ ROLLCALL_AGENT_ID: "agent-7", TMUX: "/run/t,mux,12,0", TMUX_PANE: "%3" });
    await using host = await Host.start(at);
    await host.fire(say("SessionStart", { source: "startup", model: "opus" }));
    await vi.waitFor(() => expect(stateOf(at, "claude-code-s1")).toBe("idle"), SOON);
    expect(status(at, "claude-code-s1")).toMatchObject({
      agent_name: "claude-code",
      runtime: { lifecycle: "running", pid: host.pid, workspace: "/project" },
      x_meta: {
        claude_code: { session_id: "s1", model: "opus" },
        rollcall_agent_id: "agent-7",
        tmux_socket: "/run/t,mux",
        tmux_pane: "%3",
      },
    });
    expect(statSync(at.file("claude-code-s1")).mode & 0o777).toBe(0o600);
    await host.fire(say("UserPromptSubmit", { prompt: "fix the tests" }));
    await vi.waitFor(() => expect(stateOf(at, "claude-code-s1")).toBe("working"), SOON);
    const [stop] = await host.fire(say("Stop", { last_assistant_message: "Shall I?" }));
    expect(stop).toEqual({ code: 0, stdout: "{}\n", stderr: "" });
    await vi.waitFor(() => expect(stateOf(at, "claude-code-s1")).toBe("input-required"), SOON);
    await host.fire(say("SessionEnd"));
    await vi.waitFor(() => expect(stateOf(at, "claude-code-s1")).toBe("gone"), SOON);
    const session = join(at.sessions, "claude-code-s1");
    await vi.waitFor(() => expect(readBadge(session)).toBeUndefined(), SOON);
  });

  test("is gone within seconds after its host was killed, and so is its sidecar", async () => {
    using at = home();
    await using host = await Host.start(at, "codex");
    await host.fire(say("UserPromptSubmit", { prompt: "go" }));
    const session = join(at.sessions, "codex-s1");
    const pid = await vi.waitFor(() => readBadge(session)?.pid ?? expect.fail("no pid"), SOON);
    await vi.waitFor(() => expect(stateOf(at, "codex-s1")).toBe("working"), SOON);
    host.kill();
    await vi.waitFor(() => expect(stateOf(at, "codex-s1")).toBe("gone"), SOON);
    await vi.waitFor(() => expect(hasProcess(pid)).toBe(false), SOON);
  });

  test("a sidecar that was killed is replaced at the next hook, and nothing is lost", async () => {
    using at = home();
    await using host = await Host.start(at);
    await host.fire(say("SessionStart"));
    const session = join(at.sessions, "claude-code-s1");
    const pid = await vi.waitFor(() => readBadge(session)?.pid ?? expect.fail("no pid"), SOON);
    process.kill(pid, "SIGKILL");
    await vi.waitFor(() => expect(hasProcess(pid)).toBe(false), SOON);
    await host.fire(say("UserPromptSubmit", { prompt: "go on" }));
    expect(stateOf(at, "claude-code-s1")).toBe("working");
    const other = await vi.waitFor(() => readBadge(session)?.pid ?? expect.fail("no pid"), SOON);
    expect(other).not.toBe(pid);
    await host.fire(say("SessionEnd"));
    await vi.waitFor(() => expect(hasProcess(other)).toBe(false), SOON);
  });
});

describe("many hooks at once", PATIENT, () => {
  test("50 of them lose no event, and the last state is that of the last event", async () => {
    using at = home();
    await using host = await Host.start(at);
    const tools = Array.from({ length: 48 }, (_, i) =>
      say(i % 2 === 0 ? "PreToolUse" : "PostToolUse", { tool_name: "Bash", tool_use_id: `t${i}` }),
    );
    const ended = await host.fire(
      say("UserPromptSubmit", { prompt: "many" }),
      ...tools,
      say("PreToolUse", { tool_name: "Edit", tool_use_id: "last" }),
    );
    expect(ended).toHaveLength(50);
    expect(ended).toEqual(ended.map(() => ({ code: 0, stdout: "", stderr: "" })));
    await host.fire(say("Stop", { last_assistant_message: "Anything else?" }));
    await vi.waitFor(() => expect(stateOf(at, "claude-code-s1")).toBe("input-required"), SOON);
    expect(status(at, "claude-code-s1")?.goal?.summary).toBe("many");
    const session = join(at.sessions, "claude-code-s1");
    await vi.waitFor(() => {
      expect(readdirSync(session).filter((name) => /^(?:fact|draft)/.test(name))).toEqual([]);
    }, SOON);
    expect(heard(session)).toBe(51);
    expect(existsSync(at.log)).toBe(false);
  });
});

/** How many events are in the latest version of the history. */
function heard(session: string): number {
  const versions = readdirSync(session).flatMap((name) => /^state-(\d+)/.exec(name)?.[1] ?? []);
  const latest = Math.max(...versions.map(Number));
  const text = readFileSync(join(session, `state-${latest}.json`), "utf8");
  return (JSON.parse(text) as { heard: number }).heard;
}

describe("a hook never fails its host", PATIENT, () => {
  test.each([
    ["not JSON", "{ secret: 1"],
    ["nothing", ""],
    ["no session", JSON.stringify({ hook_event_name: "Stop" })],
    ["a list", "[1]"],
    ["an id that is a path", JSON.stringify(say("Stop", { session_id: "../../x" }))],
  ])("given %s it ends well and complains where only who looks sees it", (_, input) => {
    using at = home();
    const { code, stderr } = fire(at, input);
    expect([code, stderr]).toEqual([0, ""]);
    if (existsSync(at.log)) {
      expect(readFileSync(at.log, "utf8")).not.toContain("secret");
      expect(statSync(at.log).mode & 0o777).toBe(0o600);
    }
    expect(existsSync(join(at.sessions, "../../x"))).toBe(false);
  });

  test("where its state cannot be, it still says what the host wants to hear", () => {
    using at = home();
    mkdirSync(join(at.sessions, "../.."), { recursive: true });
    writeFileSync(join(at.sessions, ".."), "in the way");
    expect(fire(at, say("Stop"))).toEqual({ code: 0, stdout: "{}\n", stderr: "" });
  });

  test("a tool's huge answer is read to its end", () => {
    using at = home();
    const tool_response = "x".repeat(40 * 1024 * 1024);
    expect(fire(at, say("PostToolUse", { tool_response })).code).toBe(0);
    expect(readFileSync(at.log, "utf8")).toContain("too long");
  });

  test("subagents leave no trace", () => {
    using at = home();
    for (const more of [{ agent_id: "a1" }, { agent_transcript_path: "/t" }]) {
      expect(fire(at, say("Stop", more))).toEqual({ code: 0, stdout: "{}\n", stderr: "" });
    }
    expect(existsSync(at.sessions)).toBe(false);
  });
});

describe("rollcall hooks", PATIENT, () => {
  const hooks = (at: Home, ...words: readonly string[]) => {
    const args = [PROGRAM, "hooks", ...words];
    const ended = spawnSync(process.execPath, args, { env: at.env, encoding: "utf8" });
    return { code: ended.status, stdout: ended.stdout, stderr: ended.stderr };
  };
  const settings = (at: Home) => join(at.env["HOME"] ?? "", ".claude/settings.json");

  test("shows what it would change, changes it, and says how things stand", () => {
    using at = home();
    const dry = hooks(at, "install", "claude-code", "--dry-run");
    expect(dry.stdout).toContain("~/.claude/settings.json would be made:");
    expect(dry.stdout).toContain(`hook claude-code"`);
    const asked = hooks(at, "install", "claude-code");
    expect(asked.stdout).toBe("Claude Code  ~/.claude/settings.json\n");
    expect(asked.stderr).toBe(
      "error: nothing was changed: --yes makes the change, --dry-run only shows it\n",
    );
    expect([asked.code, existsSync(settings(at))]).toEqual([2, false]);
    expect(hooks(at, "status").code).toBe(1);
    expect(hooks(at, "install", "claude-code", "--yes").stdout).toContain(
      "Claude Code: installed in ~/",
    );
    expect(hooks(at, "install", "claude-code", "--yes").stdout).toContain("is installed already");
    const { code, stdout } = hooks(at, "status", "--json");
    const { hosts } = JSON.parse(stdout) as { hosts: { host: string; state: string }[] };
    expect(code).toBe(0);
    expect(hosts.map(({ host, state }) => `${host} ${state}`)).toEqual([
      "claude-code installed",
      "codex absent",
      "copilot absent",
      "gemini absent",
      "opencode absent",
      "pi absent",
      "qwen-code absent",
    ]);
  });

  test("the fix that its status names is one of the same project", () => {
    using at = home();
    const project = join(at.env["HOME"] ?? "", "my project");
    hooks(at, "install", "codex", "--project", project, "--yes");
    const file = join(project, ".codex/hooks.json");
    const installed = JSON.parse(readFileSync(file, "utf8")) as { hooks: Record<string, unknown> };
    const { Stop: _, ...others } = installed.hooks;
    writeFileSync(file, JSON.stringify({ ...installed, hooks: others }));
    const { stdout } = hooks(at, "status", "codex", "--project", project);
    expect(stdout).toContain(`fix: rollcall hooks install codex --project '${project}'\n`);
    mkdirSync(join(at.env["HOME"] ?? "", ".codex"));
    writeFileSync(join(at.env["HOME"] ?? "", ".codex/hooks.json"), readFileSync(file));
    expect(hooks(at, "status", "codex").stdout).toContain("fix: rollcall hooks install codex\n");
  });

  test("the command that it installs is one that works", () => {
    using at = home();
    hooks(at, "install", "claude-code", "--yes");
    const text = readFileSync(settings(at), "utf8");
    const { hooks: installed } = JSON.parse(text) as {
      hooks: Record<string, [{ hooks: [{ command: string }] }]>;
    };
    const command = installed["Stop"]?.[0].hooks[0].command ?? "";
    const input = JSON.stringify(say("Stop"));
    const ended = spawnSync("sh", ["-c", command], { env: at.env, input, encoding: "utf8" });
    expect([ended.status, ended.stdout]).toEqual([0, "{}\n"]);
  });

  test("settings that cannot be read are left alone", () => {
    using at = home();
    mkdirSync(join(settings(at), ".."), { recursive: true });
    writeFileSync(settings(at), "{ broken");
    const { code, stderr } = hooks(at, "install", "claude-code");
    expect(code).toBe(4);
    expect(stderr).toMatch(/^error: .*settings.json cannot be changed: .* line 1, column/);
    expect(readFileSync(settings(at), "utf8")).toBe("{ broken");
  });

  test("of one program that are broken keep no other from its hooks", () => {
    using at = home();
    for (const name of [".claude", ".qwen"]) mkdirSync(join(at.env["HOME"] ?? "", name));
    writeFileSync(settings(at), "{ broken");
    const { code, stdout, stderr } = hooks(at, "install", "--yes");
    expect(code).toBe(4);
    expect(stderr).toMatch(/^Claude Code is left out: .*settings.json cannot be changed: /);
    expect(stdout).toContain("Qwen Code: installed in");
    expect(readFileSync(join(at.env["HOME"] ?? "", ".qwen/settings.json"), "utf8")).toContain(
      "hook qwen-code",
    );
  });
});

describe("what is put into the process of a host", PATIENT, () => {
  test.each([
    [
      "opencode",
      ".config/opencode/plugins/rollcall.js",
      "const { event } = await host.RollcallPlugin({ directory: '/project' });" +
        "await event({ event: { type: 'session.created', properties: { info: { id: 's1' } } } });",
      "idle",
    ],
    [
      "pi",
      ".pi/agent/extensions/rollcall.ts",
      "const on = {}; await host.default({ on: (name, handler) => (on[name] = handler) });" +
        "const sessionManager = { getSessionId: () => 's1' };" +
        "await on.session_start({}, { cwd: '/project', sessionManager });",
      "idle",
    ],
  ])("of %s is loaded, shows its session, and takes it away at the end", async (...row) => {
    const [host, file, script, state] = row;
    using at = home();
    const folder = at.env["HOME"] ?? "";
    spawnSync(process.execPath, [PROGRAM, "hooks", "install", host, "--yes"], { env: at.env });
    // Pi reads TypeScript, and takes any JavaScript for it.
    const text = readFileSync(join(folder, file), "utf8");
    writeFileSync(join(folder, "host.mjs"), text);
    const main = `import * as host from "./host.mjs"; ${script} process.stdin.resume();`;
    writeFileSync(join(folder, "main.mjs"), main);
    const child = spawn(process.execPath, [join(folder, "main.mjs")], {
      env: at.env,
      stdio: ["pipe", "inherit", "inherit"],
    });
    await vi.waitFor(() => expect(stateOf(at, `${host}-s1`)).toBe(state), SOON);
    child.kill("SIGTERM");
    await vi.waitFor(() => expect(stateOf(at, `${host}-s1`)).toBe("gone"), SOON);
  });

  test("is no trouble for it when rollcall is gone", async () => {
    using at = home();
    const folder = at.env["HOME"] ?? "";
    spawnSync(process.execPath, [PROGRAM, "hooks", "install", "opencode", "--yes"], {
      env: at.env,
    });
    const file = join(folder, ".config/opencode/plugins/rollcall.js");
    const text = readFileSync(file, "utf8").replace("/dist/lib/", "/gone/");
    writeFileSync(join(folder, "host.mjs"), text);
    const loaded = (await import(join(folder, "host.mjs"))) as {
      RollcallPlugin: (input: object) => Promise<Record<string, () => Promise<unknown>>>;
    };
    vi.stubEnv("PATH", "");
    const hooksOf = await loaded.RollcallPlugin({});
    await expect(hooksOf["chat.message"]?.()).resolves.toBeUndefined();
  });
});
