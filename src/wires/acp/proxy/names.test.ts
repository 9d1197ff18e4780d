import { expect, test } from "vitest";
import { programName } from "./names.ts";

test.each([
  [["/usr/bin/gemini", "--acp"], "gemini"],
  [["npx", "-y", "@google/gemini-cli@latest", "--acp"], "gemini-cli"],
  [["node", "/opt/agent.mjs"], "agent"],
  [["uvx", "--from", "my-agent==1", "run-agent"], "run-agent"],
  [["python3.12", "-m", "echo_agent"], "echo_agent"],
  [["sh", "-c", "exec something long"], "sh"],
  [["C:\\x y\\weird agent!.exe"], "C-x-y-weird-agent"],
])("%j is called %s", ([command = "", ...args], name) => {
  expect(programName(command, args).replace(/-$/, "")).toBe(name);
});
