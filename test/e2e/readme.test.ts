import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { shellBlock } from "../docs.ts";
import { environment, programFile, Running, scratch } from "./programs.ts";

const README = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

function shell(commands: string, env: NodeJS.ProcessEnv): Running {
  return new Running("/bin/sh", ["-c", `exec ${commands.trim()}`], env);
}

test("the commands of the README's first screen do what it says", { timeout: 60_000 }, async () => {
  using folder = scratch();
  // Where npm links to: its folder of programs must be on the PATH, as it is on a machine with npm.
  const prefix = join(folder.path, "npm");
  const PATH = `${join(prefix, "bin")}${delimiter}${process.env["PATH"]}`;
  const doors = { ROLLCALL_ADDR: ":0", ROLLCALL_HTTP_ADDR: ":0" };
  const env = environment(folder.path, { ...doors, XDG_STATE_HOME: folder.path });
  await using up = shell(shellBlock("start", [README]), env);
  const [, url] = await up.says(
    /HTTP +(http:\S+)\n +gRPC .*\n[^]*?state +sqlite at .*\n +answers only this/,
  );

  const state = { ROLLCALL_URL: url, XDG_STATE_HOME: folder.path };
  const user = environment(folder.path, { ...state, PATH, npm_config_prefix: prefix });
  await using link = shell(shellBlock("link", [README]), user);
  expect((await link.end()).code).toBe(0);
  await using hooks = shell(shellBlock("hooks", [README]), user);
  expect((await hooks.end()).stdout).toContain("Claude Code: installed in ~/.claude/settings.json");
  askPermission(join(folder.path, "shop"), user);
  await using events = shell(shellBlock("events", [README]), user);
  await events.says(/1 node\.leading +\S+ leads, epoch 1[^]*npm run migrate/);
  await using ls = shell(shellBlock("ls", [README]), user);
  await ls.says(/^NEEDS YOU +claude-code +~\/shop +Bash: npm run migrate +.* claude-code-a1$/m);

  up.signal("SIGTERM");
  expect((await up.end()).code).toBe(0);
});

/** Claude Code runs its hook: it may not go on before a person allows a command. */
function askPermission(cwd: string, env: NodeJS.ProcessEnv): void {
  const input = JSON.stringify({
    session_id: "a1",
    hook_event_name: "PermissionRequest",
    tool_name: "Bash",
    tool_input: { command: "npm run migrate" },
    cwd,
  });
  const program = programFile("rollcall");
  spawnSync(process.execPath, [program, "hook", "claude-code"], { env, input });
}
