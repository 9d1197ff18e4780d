import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { shellBlock } from "../docs.ts";
import { environment, Running, scratch } from "./programs.ts";

const README = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

function shell(commands: string, env: NodeJS.ProcessEnv): Running {
  return new Running("/bin/sh", ["-c", `exec ${commands.trim()}`], env);
}

test("the README's first two commands do what it says", { timeout: 60_000 }, async () => {
  using folder = scratch();
  const doors = { ROLLCALL_ADDR: ":0", ROLLCALL_HTTP_ADDR: ":0" };
  const env = environment(folder.path, { ...doors, XDG_STATE_HOME: folder.path });
  await using up = shell(shellBlock("start", [README]), env);
  const [, url] = await up.says(/HTTP +(http:\S+)\n +gRPC .*\n +state +sqlite at .*\n +only this/);

  const watching = environment(folder.path, { ROLLCALL_URL: url });
  await using events = shell(shellBlock("events", [README]), watching);
  await events.says(/1 node\.leading +\S+ leads, epoch 1/);

  up.signal("SIGTERM");
  expect((await up.end()).code).toBe(0);
});
