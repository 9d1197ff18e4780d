/**
 * An agent made with the TypeScript SDK that works like a real one, for both versions of ACP: it
 * has a plan, calls tools side by side, goes on when it is told no and leaves that call open, and
 * stops when it is cancelled. In v2 it needs a person and leaves something running behind.
 */
import { Readable, Writable } from "node:stream";
import * as v1 from "@agentclientprotocol/sdk";
import * as v2 from "@agentclientprotocol/sdk/experimental/v2";

const sessionId = "work";
const OPTIONS = [
  { optionId: "yes", name: "Allow", kind: /** @type {const} */ ("allow_once") },
  { optionId: "no", name: "Reject", kind: /** @type {const} */ ("reject_once") },
];

/** @type {() => void} */
let cancel = () => {};

const first = v1
  .agent({ name: "worker" })
  .onRequest("initialize", () => ({
    protocolVersion: 1,
    agentInfo: { name: "worker", version: "1.0.0" },
  }))
  .onRequest("session/new", () => ({ sessionId }))
  .onNotification("session/cancel", () => cancel())
  .onRequest("session/prompt", async ({ client, params }) => {
    /** @param {v1.SessionUpdate} update */
    const tell = (update) => client.notify("session/update", { sessionId, update });
    const [block] = params.prompt;
    if (block?.type === "text" && block.text === "Wait") {
      await tell({ sessionUpdate: "tool_call", toolCallId: "w", title: "sleep", kind: "execute" });
      await new Promise((resolve) => {
        cancel = () => resolve(undefined);
      });
      return { stopReason: "cancelled" };
    }
    await tell({
      sessionUpdate: "plan",
      entries: [
        { content: "Look", priority: "high", status: "completed" },
        { content: "Change", priority: "high", status: "in_progress" },
      ],
    });
    const read = { toolCallId: "r", title: "Read a.rs", kind: /** @type {const} */ ("read") };
    const grep = { toolCallId: "g", title: "Grep foo", kind: /** @type {const} */ ("search") };
    const edit = { toolCallId: "e", title: "Edit c.rs", kind: /** @type {const} */ ("edit") };
    await tell({ sessionUpdate: "tool_call", ...read, status: "in_progress" });
    await tell({ sessionUpdate: "tool_call", ...grep, status: "in_progress" });
    await tell({ sessionUpdate: "tool_call", ...edit, status: "pending" });
    await tell({ sessionUpdate: "tool_call_update", toolCallId: "r", status: "completed" });
    await tell({ sessionUpdate: "tool_call_update", toolCallId: "g", status: "completed" });
    await client.request("session/request_permission", {
      sessionId,
      toolCall: { toolCallId: "e" },
      options: OPTIONS,
    });
    await client.request("fs/read_text_file", { sessionId, path: "/srv/b.rs" });
    const content = { type: /** @type {const} */ ("text"), text: "Then not." };
    await tell({ sessionUpdate: "agent_message_chunk", content });
    return { stopReason: "end_turn" };
  });

const second = v2
  .agent({ name: "worker" })
  .onRequest("initialize", () => ({
    protocolVersion: 2,
    info: { name: "worker", version: "2.0.0" },
  }))
  .onRequest("session/new", () => ({ sessionId }))
  .onRequest("session/prompt", ({ client }) => {
    /** @param {v2.SessionUpdate} update */
    const tell = (update) => client.notify("session/update", { sessionId, update });
    const work = async () => {
      const serve = { toolCallId: "s", title: "npm start", kind: /** @type {const} */ ("execute") };
      await tell({ sessionUpdate: "state_update", state: "running" });
      await tell({ sessionUpdate: "tool_call_update", ...serve, status: "in_progress" });
      await tell({ sessionUpdate: "state_update", state: "requires_action" });
      await client.request("session/request_permission", {
        sessionId,
        title: "Open port 80?",
        subject: { type: "tool_call", toolCall: { toolCallId: "s" } },
        options: OPTIONS,
      });
      const background = [{ type: /** @type {const} */ ("tool_call"), toolCallId: "s" }];
      await tell({ sessionUpdate: "state_update", state: "running" });
      await tell({
        sessionUpdate: "state_update",
        state: "idle",
        stopReason: "end_turn",
        background,
      });
    };
    setImmediate(() => void work());
    return { messageId: "m" };
  });

const output = /** @type {WritableStream<Uint8Array>} */ (Writable.toWeb(process.stdout));
const input = /** @type {ReadableStream<Uint8Array>} */ (Readable.toWeb(process.stdin));
new v2.AgentProtocolRouter().withV1(first).withV2(second).connect(v1.ndJsonStream(output, input));
