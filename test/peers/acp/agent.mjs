/**
 * An agent made with the TypeScript SDK, for both versions of ACP. Every prompt is the same day's
 * work: it reads a file by a plan, asks whether it may write one, and says that it is done.
 */
import { existsSync, watch } from "node:fs";
import { dirname } from "node:path";
import { Readable, Writable } from "node:stream";
import * as v1 from "@agentclientprotocol/sdk";
import * as v2 from "@agentclientprotocol/sdk/experimental/v2";

const SESSION = "peer-session";
const INFO = { name: "peer-agent", version: "1.2.3" };
const OPTIONS = [
  { optionId: "yes", name: "Allow once", kind: /** @type {const} */ ("allow_once") },
  { optionId: "no", name: "Reject", kind: /** @type {const} */ ("reject_once") },
];
const FILE = { toolCallId: "write", title: "Write result.txt" };

/** @param {string} text */
const chunk = (text) => ({ type: /** @type {const} */ ("text"), text });

/**
 * Reading takes as long as it takes this file to appear.
 * @param {string | undefined} path
 */
async function fileThere(path) {
  if (path === undefined) return;
  await new Promise((resolve) => {
    const look = () => {
      if (!existsSync(path)) return;
      watcher.close();
      resolve(undefined);
    };
    const watcher = watch(dirname(path), look);
    look();
  });
}

const first = v1
  .agent({ name: "peer" })
  .onRequest("initialize", () => ({
    protocolVersion: 1,
    agentInfo: INFO,
    agentCapabilities: {},
  }))
  .onRequest("session/new", () => ({ sessionId: SESSION }))
  .onNotification("session/cancel", () => undefined)
  .onRequest("session/prompt", async ({ client }) => {
    /** @param {v1.SessionUpdate} update */
    const tell = (update) => client.notify("session/update", { sessionId: SESSION, update });
    await tell({
      sessionUpdate: "plan",
      entries: [
        { content: "Look at the notes", priority: "high", status: "in_progress" },
        { content: "Write the result", priority: "high", status: "pending" },
      ],
    });
    await tell({ sessionUpdate: "agent_thought_chunk", content: chunk("Let me see.") });
    await tell({
      sessionUpdate: "tool_call",
      toolCallId: "read",
      title: "Read notes.txt",
      kind: "read",
      status: "in_progress",
    });
    await fileThere(process.env["PEER_GATE"]);
    await tell({ sessionUpdate: "tool_call_update", toolCallId: "read", status: "completed" });
    await tell({ sessionUpdate: "tool_call", ...FILE, kind: "edit", status: "pending" });
    /** @type {v1.RequestPermissionResponse} */
    const { outcome } = await client.request("session/request_permission", {
      sessionId: SESSION,
      toolCall: FILE,
      options: OPTIONS,
    });
    const isAllowed = outcome.outcome === "selected" && outcome.optionId === "yes";
    if (isAllowed) {
      await tell({ sessionUpdate: "tool_call_update", toolCallId: "write", status: "completed" });
    }
    await tell({ sessionUpdate: "agent_message_chunk", content: chunk("All done.") });
    return { stopReason: "end_turn" };
  });

const second = v2
  .agent({ name: "peer" })
  .onRequest("initialize", () => ({ protocolVersion: 2, info: INFO, capabilities: {} }))
  .onRequest("session/new", () => ({ sessionId: SESSION }))
  .onRequest("session/prompt", ({ client }) => {
    /** @param {v2.SessionUpdate} update */
    const tell = (update) => client.notify("session/update", { sessionId: SESSION, update });
    const work = async () => {
      await tell({ sessionUpdate: "state_update", state: "running" });
      await tell({
        sessionUpdate: "tool_call_update",
        toolCallId: "read",
        title: "Read notes.txt",
        kind: "read",
        status: "in_progress",
      });
      await tell({ sessionUpdate: "tool_call_update", toolCallId: "read", status: "completed" });
      await tell({
        sessionUpdate: "agent_message",
        messageId: "m2",
        content: [chunk("All done.")],
      });
      await tell({ sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" });
    };
    setImmediate(() => void work());
    return { messageId: "m1" };
  });

const output = /** @type {WritableStream<Uint8Array>} */ (Writable.toWeb(process.stdout));
const input = /** @type {ReadableStream<Uint8Array>} */ (Readable.toWeb(process.stdin));
new v2.AgentProtocolRouter().withV1(first).withV2(second).connect(v1.ndJsonStream(output, input));
