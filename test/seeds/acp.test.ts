/**
 * The proposal "Agent Status Update" for ACP, with its own example: an agent says its status,
 * people see it, and every byte goes through. Between agent and client stands the proxy.
 */
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { node, proxied, proxyHome, type ProxyHome, type ProxyRun } from "../e2e/acp-proxy.ts";
import { daemon, run } from "../e2e/programs.ts";

const SOON = { timeout: 20_000, interval: 20 };
const PATIENT = { timeout: 60_000 };

/** The example of the proposal, letter by letter. */
const FLAT = {
  jsonrpc: "2.0",
  method: "session/update",
  params: {
    sessionId: "sess_abc123",
    sessionUpdate: "agent_status_update",
    status: "reading",
    message: "Reading codebase structure...",
    currentTask: "Step 2/5: Finding Rust files",
  },
};
const { sessionId, ...status } = FLAT.params;
const NESTED = { ...FLAT, params: { sessionId, update: status } };

/** Answers what it must, says what it is told to say, and ends its turn at `end`. */
const AGENT = `
let prompt;
const say = (frame) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...frame }) + "\\n");
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  const agentInfo = { name: "acpagent", version: "1" };
  if (method === "initialize") say({ id, result: { protocolVersion: 1, agentInfo } });
  if (method === "session/new") say({ id, result: { sessionId: "sess_abc123" } });
  if (method === "session/prompt") prompt = id;
  if (method === "say") say(params);
  if (method === "end") say({ id: prompt, result: { stopReason: "end_turn" } });
});
`;

async function inTurn(home: ProxyHome, ...flags: readonly string[]): Promise<ProxyRun> {
  const proxy = proxied(home, node(AGENT), flags);
  proxy.say({ id: 0, method: "initialize", params: { protocolVersion: 1 } });
  await proxy.says('"id":0');
  proxy.say({ id: 1, method: "session/new", params: { cwd: home.path, mcpServers: [] } });
  await proxy.says('"id":1');
  proxy.say({ id: 2, method: "session/prompt", params: { sessionId, prompt: [] } });
  return proxy;
}

const of = (home: ProxyHome) => ({ home: home.path, env: home.env });

async function shows(home: ProxyHome, words: readonly string[], pattern: RegExp): Promise<void> {
  await vi.waitFor(async () => expect((await run(words, of(home))).stdout).toMatch(pattern), SOON);
}

const NO_DAEMON = ["--url", "http://127.0.0.1:9"];

describe.each([
  ["flat", FLAT],
  ["nested", NESTED],
])("the proposal's example, %s", PATIENT, (_form, frame) => {
  test("is shown with its word and its step by `acp` and `ls`, and passes as it is", async () => {
    using home = proxyHome();
    await using proxy = await inTurn(home);
    proxy.say({ method: "say", params: frame });
    const row =
      /reading +acpagent +Reading codebase structure\.\.\. +Step 2\/5: Finding Rust files/;
    await shows(home, ["acp"], row);
    const step = /^WORKING +acpagent +.* reading · Step 2\/5: Finding Rust files /m;
    await shows(home, ["ls", ...NO_DAEMON], step);
    expect(proxy.output.toString()).toContain(`${JSON.stringify(frame)}\n`);
  });
});

test("the same from a daemon, for each of the five words", PATIENT, async () => {
  using home = proxyHome();
  const { up, url } = await daemon(
    "--memory",
    "--status-dir",
    join(home.path, "state/agent-status"),
  );
  await using _ = up;
  await using proxy = await inTurn(home, "--url", url);
  const step = "Step 2/5: Finding Rust files";
  const rows = {
    thinking: `WORKING +acpagent .*thinking · ${step}`,
    reading: `WORKING +acpagent .*reading · ${step}`,
    writing: `WORKING +acpagent .*writing · ${step}`,
    waiting: "NEEDS YOU +acpagent .*Reading codebase structure",
    idle: "IDLE +acpagent",
  };
  for (const [word, row] of Object.entries(rows)) {
    const params = { ...FLAT.params, status: word };
    proxy.say({ method: "say", params: { ...FLAT, params } });
    await shows(home, ["acp"], new RegExp(`^${word} +acpagent`, "m"));
    await shows(home, ["ls", "--url", url], new RegExp(`^${row}`, "m"));
  }
});

test("--inject flat writes the very form of the example", PATIENT, async () => {
  using home = proxyHome();
  await using proxy = await inTurn(home, "--inject=flat");
  const toolCall = {
    sessionUpdate: "tool_call",
    toolCallId: "t",
    title: "Read notes.txt",
    kind: "read",
    status: "in_progress",
  };
  const params = { sessionId, update: toolCall };
  proxy.say({ method: "say", params: { method: "session/update", params } });
  await proxy.says("agent_status_update");
  const said = proxy.output
    .toString()
    .split("\n")
    .find((line) => line.includes("agent_status"));
  expect(JSON.parse(said ?? "")).toEqual({
    jsonrpc: "2.0",
    method: "session/update",
    params: {
      sessionId,
      sessionUpdate: "agent_status_update",
      status: "reading",
      message: "Read notes.txt",
    },
  });
});
