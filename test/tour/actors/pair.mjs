/**
 * An agent as editors run them: it speaks ACP on its pipes. It also has hooks, as coding agents
 * have, and registers with the daemon, to take tasks. All it knows of Rollcall is what its
 * environment says; ROLLCALL_AGENT_ID says who it is, whichever way it shows up.
 */
import { spawn } from "node:child_process";
import { existsSync, watch } from "node:fs";
import { Readable, Writable } from "node:stream";
import { agent, ndJsonStream } from "@agentclientprotocol/sdk";
import { connect } from "rollcall/keeper";

const SESSION = "pair-1";
const CHANGE = { toolCallId: "write", title: "Write src/basket.ts" };
const TESTS = { toolCallId: "test", title: "Run the tests" };
/** The tests take as long as it takes this file to appear in the project. */
const REPORT = "test-report.txt";
const [program = "", ...words] = process.argv.slice(2);
const id = process.env["ROLLCALL_AGENT_ID"] ?? "";

/**
 * Runs its own hook, as Claude Code would.
 * @param {Readonly<Record<string, unknown>>} event
 */
function hook(event) {
  const child = spawn(program, words, { stdio: ["pipe", "ignore", "ignore"] });
  child.stdin.end(JSON.stringify({ session_id: SESSION, cwd: process.cwd(), ...event }));
  return new Promise((resolve) => child.on("close", resolve));
}

async function arrive() {
  await hook({ hook_event_name: "SessionStart", source: "startup" });
  const keeper = connect({ address: process.env["KEEPER_ADDRESS"] ?? "" });
  await keeper.register({
    name: "pair",
    description: "Changes code together with a person, in the editor",
    tools: ["editor"],
    metadata: { "rollcall.agent_id": id },
    ttlMs: 5_000,
  });
}

async function testsEnd() {
  await new Promise((resolve) => {
    const look = () => {
      if (!existsSync(REPORT)) return;
      watcher.close();
      resolve(undefined);
    };
    const watcher = watch(".", look);
    look();
  });
}

/** @param {string} text */
const says = (text) => ({ type: /** @type {const} */ ("text"), text });

const editor = agent({ name: "pair" })
  .onRequest("initialize", () => ({
    protocolVersion: 1,
    agentInfo: { name: "pair", version: "1.0.0" },
    agentCapabilities: {},
  }))
  .onRequest("session/new", async () => {
    await arrive();
    return { sessionId: SESSION };
  })
  .onNotification("session/cancel", () => undefined)
  .onRequest("session/prompt", async ({ client }) => {
    /** @param {import("@agentclientprotocol/sdk").SessionUpdate} update */
    const tell = (update) => client.notify("session/update", { sessionId: SESSION, update });
    await hook({ hook_event_name: "UserPromptSubmit", prompt: "Rename Cart to Basket" });
    await tell({
      sessionUpdate: "plan",
      entries: [
        { content: "Find every use", priority: "high", status: "completed" },
        { content: "Rename the class", priority: "high", status: "in_progress" },
      ],
    });
    await tell({ sessionUpdate: "tool_call", ...CHANGE, kind: "edit", status: "pending" });
    await client.request("session/request_permission", {
      sessionId: SESSION,
      toolCall: CHANGE,
      options: [
        { optionId: "yes", name: "Allow once", kind: "allow_once" },
        { optionId: "no", name: "Reject", kind: "reject_once" },
      ],
    });
    await tell({ sessionUpdate: "tool_call_update", toolCallId: "write", status: "completed" });
    await tell({ sessionUpdate: "tool_call", ...TESTS, kind: "execute", status: "in_progress" });
    await testsEnd();
    await tell({ sessionUpdate: "tool_call_update", toolCallId: "test", status: "completed" });
    await tell({ sessionUpdate: "agent_message_chunk", content: says("Cart is Basket now.") });
    await hook({ hook_event_name: "Stop", last_assistant_message: "Cart is Basket now." });
    return { stopReason: "end_turn" };
  });

process.stdin.on("end", () => process.exit(0));
const output = /** @type {WritableStream<Uint8Array>} */ (Writable.toWeb(process.stdout));
const input = /** @type {ReadableStream<Uint8Array>} */ (Readable.toWeb(process.stdin));
editor.connect(ndJsonStream(output, input));
