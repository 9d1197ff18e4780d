// The helpers of both sides on the real SDK, in both versions of the protocol.
import * as v1 from "@agentclientprotocol/sdk";
import * as v2 from "@agentclientprotocol/sdk/experimental/v2";
import { expect, test, vi } from "vitest";
import { TestClock } from "../../../test/support/engine/fixture.ts";
import type { StatusForm } from "./derive/record.ts";
import { onAgentStatus, withAgentStatus, type AgentStatusReporter } from "./sdk.ts";
import { inWords } from "../../../test/support/acp/fixture.ts";

const READING = { status: "reading", message: "Reading a.rs", currentTask: "Step 2/5: a" } as const;

test("v1: a client is told what the agent says, and its SDK has no complaint", async () => {
  const complaints = vi.spyOn(console, "error").mockReturnValue();
  const said: string[] = [];
  const updates: string[] = [];
  const { agentSide, clientSide } = pipes(v1.ndJsonStream);
  serveV1(withAgentStatus(agentSide), async ({ report }) => {
    expect(await report(READING)).toBe(true);
    expect(await report(READING)).toBe(false);
    expect(await report({ status: "writing" })).toBe(true);
  });
  const stream = onAgentStatus(clientSide, (record) => said.push(inSessionWords(record)), RAW);
  await promptV1(stream, { onUpdate: ({ sessionUpdate }) => updates.push(sessionUpdate) });
  expect(said).toEqual([
    "agent: thinking: Starting agent",
    "agent: idle",
    "agent: thinking: Opening session",
    "S: idle",
    "agent: idle",
    "S: thinking: Thinking",
    "agent: thinking: Thinking",
    "S: reading: Reading a.rs",
    "agent: reading: Reading a.rs",
    "S: writing: Writing",
    "agent: writing: Writing",
    "S: idle: Done",
    "agent: idle: Done",
    "S: idle: Agent exited",
    "agent: idle: Agent exited",
  ]);
  expect(updates).toEqual(["session_info_update", "session_info_update"]);
  expect(complaints).not.toHaveBeenCalled();
});

test("v1: a client that asks for nothing is told where every client accepts it", async () => {
  const complaints = vi.spyOn(console, "error").mockReturnValue();
  const updates: unknown[] = [];
  const { agentSide, clientSide } = pipes(v1.ndJsonStream);
  serveV1(withAgentStatus(agentSide), async ({ report }) => {
    await report(READING);
  });
  await promptV1(clientSide, { onUpdate: (update) => updates.push(update) });
  expect(updates).toEqual([
    { sessionUpdate: "session_info_update", _meta: { "rollcall/status": READING } },
  ]);
  expect(complaints).not.toHaveBeenCalled();
});

test.each<[StatusForm, object]>([
  ["ext", { method: "_rollcall/agent_status", params: { sessionId: "S", ...READING } }],
  ["variant", nested({ sessionUpdate: "agent_status_update", ...READING })],
  [
    "flat",
    {
      method: "session/update",
      params: { sessionId: "S", sessionUpdate: "agent_status_update", ...READING },
    },
  ],
  ["meta", nested({ sessionUpdate: "session_info_update", _meta: { "rollcall/status": READING } })],
])("a client gets the form that it asked for: %s", async (form, expected) => {
  const { agentSide, clientSide } = pipes(v1.ndJsonStream);
  serveV1(withAgentStatus(agentSide), async ({ report }) => {
    await report(READING);
  });
  const sent = await exchange(clientSide, form);
  expect(sent).toContainEqual({ jsonrpc: "2.0", ...expected });
});

test.each([
  ["nested", { update: { sessionUpdate: "agent_status_update", ...READING } }],
  ["flat", { sessionUpdate: "agent_status_update", ...READING }],
])(
  "v1: a client is told the %s form of the proposal, which its SDK never sees",
  async (_form, fields) => {
    const complaints = vi.spyOn(console, "error").mockReturnValue();
    const said: string[] = [];
    const { agentSide, clientSide } = pipes(v1.ndJsonStream);
    serveV1(withAgentStatus(agentSide), async ({ client }) => {
      await client.notify("session/update", { sessionId: "S", ...fields });
    });
    await promptV1(onAgentStatus(clientSide, (record) => said.push(inSessionWords(record)), RAW));
    expect(said).toContain("S: reading: Reading a.rs");
    expect(complaints).not.toHaveBeenCalled();
  },
);

test("v1: where the agent says nothing, its status is derived", async () => {
  const said: string[] = [];
  const { agentSide, clientSide } = pipes(v1.ndJsonStream);
  serveV1(withAgentStatus(agentSide), async ({ client }) => {
    const call = { sessionUpdate: "tool_call", toolCallId: "t", kind: "edit" } as const;
    const update = { ...call, title: "Edit a.rs" };
    await client.notify(v1.methods.client.session.update, { sessionId: "S", update });
  });
  await promptV1(onAgentStatus(clientSide, (record) => said.push(inSessionWords(record)), RAW));
  expect(said).toContain("S: writing: Edit a.rs");
});

test("nothing is reported outside of a turn", async () => {
  const { agentSide, clientSide } = pipes(v1.ndJsonStream);
  const reporter = withAgentStatus(agentSide);
  serveV1(reporter, async () => {});
  expect(await reporter.report("S", READING)).toBe(false);
  await promptV1(clientSide);
  expect(await reporter.report("S", READING)).toBe(false);
});

test("v2: a client is told, and the answer to the prompt is not the end", async () => {
  const complaints = vi.spyOn(console, "error").mockReturnValue();
  const said: string[] = [];
  const { agentSide, clientSide } = pipes(v2.ndJsonStream);
  const { stream, report } = withAgentStatus(agentSide);
  const tell = (client: v2.AgentContext, update: v2.SessionUpdate): Promise<void> =>
    client.notify(v2.methods.client.session.update, { sessionId: "S", update });
  v2.agent({ name: "writer" })
    .onRequest(v2.methods.agent.initialize, () => ({ protocolVersion: 2, info: INFO }))
    .onRequest(v2.methods.agent.session.new, () => ({ sessionId: "S" }))
    .onRequest(v2.methods.agent.session.prompt, async ({ client }) => {
      await tell(client, { sessionUpdate: "state_update", state: "running" });
      await report("S", READING);
      setImmediate(() => {
        void tell(client, { sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" });
      });
      return { messageId: "m" };
    })
    .connect(stream);
  const wrapped = onAgentStatus(
    clientSide,
    (record) => said.push(`${inSessionWords(record)} (${record.source})`),
    RAW,
  );
  await v2.client({ name: "editor" }).connectWith(wrapped, async (agent) => {
    await agent.request(v2.methods.agent.initialize, { protocolVersion: 2, info: INFO });
    await agent.request(v2.methods.agent.session.new, { cwd: "/srv" });
    const prompt = [{ type: "text" as const, text: "Go" }];
    await agent.request(v2.methods.agent.session.prompt, { sessionId: "S", prompt });
    await vi.waitFor(() => expect(said.at(-1)).toBe("agent: idle: Done (state_update)"));
  });
  expect(said.filter((line) => line.startsWith("S: "))).toEqual([
    "S: idle (derived)",
    "S: thinking: Thinking (derived)",
    "S: thinking: Thinking (state_update)",
    "S: reading: Reading a.rs (meta)",
    "S: idle: Done (state_update)",
    "S: idle: Agent exited (derived)",
  ]);
  expect(complaints).not.toHaveBeenCalled();
});

test("a display is calm, told of silence, and leaves no timer when the stream ends", async () => {
  const clock = new TestClock();
  const said: string[] = [];
  const { agentSide, clientSide } = pipes(v1.ndJsonStream);
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  serveV1(withAgentStatus(agentSide), async () => {
    await finished;
  });
  const stream = onAgentStatus(
    clientSide,
    (record) => {
      if (record.sessionId !== null) said.push(`${inWords(record)} ${record.quietSeconds}`);
    },
    { clock },
  );
  await v1.client({ name: "editor" }).connectWith(stream, async (agent) => {
    await agent.request(v1.methods.agent.initialize, { protocolVersion: 1 });
    await agent.request(v1.methods.agent.session.new, { cwd: "/srv", mcpServers: [] });
    const answer = agent.request(v1.methods.agent.session.prompt, { sessionId: "S", prompt: [] });
    await vi.waitFor(() => expect(clock.timers).toBe(1));
    expect(said).toEqual(["idle 0"]);
    await clock.advance(250);
    expect(said).toEqual(["idle 0", "thinking: Thinking 0"]);
    await clock.advance(30_000);
    expect(said.at(-1)).toBe("thinking: Thinking 30");
    finish();
    await answer;
  });
  await vi.waitFor(() => expect(clock.timers).toBe(0));
  expect(said.slice(-2)).toEqual(["idle: Done 0", "idle: Agent exited 0"]);
});

test("a callback that throws is warned of, and the conversation goes on", async () => {
  const warned = vi.spyOn(process, "emitWarning").mockReturnValue();
  const { agentSide, clientSide } = pipes(v1.ndJsonStream);
  serveV1(withAgentStatus(agentSide), async () => {});
  const failure = new Error("no display");
  const fail = (): void => {
    throw failure;
  };
  await promptV1(onAgentStatus(clientSide, fail, RAW));
  expect(warned).toHaveBeenCalledWith(failure);
});

const RAW = { isRaw: true };
const INFO = { name: "test", version: "1" };

interface Turn {
  readonly client: v1.AgentContext;
  readonly report: (status: Parameters<Reporter["report"]>[1]) => Promise<boolean>;
}

type Reporter = AgentStatusReporter<v1.AnyMessage>;

function serveV1({ stream, report }: Reporter, work: (turn: Turn) => Promise<void>): void {
  v1.agent({ name: "writer" })
    .onRequest(v1.methods.agent.initialize, () => ({ protocolVersion: 1 }))
    .onRequest(v1.methods.agent.session.new, () => ({ sessionId: "S" }))
    .onRequest(v1.methods.agent.session.prompt, async ({ client, params }) => {
      await work({ client, report: (status) => report(params.sessionId, status) });
      return { stopReason: "end_turn" };
    })
    .connect(stream);
}

async function promptV1(
  stream: v1.Stream,
  { onUpdate }: { readonly onUpdate?: (update: v1.SessionUpdate) => void } = {},
): Promise<void> {
  await v1
    .client({ name: "editor" })
    .onNotification(v1.methods.client.session.update, ({ params }) => onUpdate?.(params.update))
    .connectWith(stream, async (agent) => {
      await agent.request(v1.methods.agent.initialize, { protocolVersion: 1 });
      await agent.request(v1.methods.agent.session.new, { cwd: "/srv", mcpServers: [] });
      await agent.request(v1.methods.agent.session.prompt, { sessionId: "S", prompt: [] });
    });
}

/** A client without an SDK, which asks for a form; returns what it was sent in the turn. */
async function exchange(stream: v1.Stream, form: StatusForm): Promise<readonly unknown[]> {
  const writer = stream.writable.getWriter();
  const clientCapabilities = { _meta: { "rollcall/status": form } };
  const params = { protocolVersion: 1, clientCapabilities };
  const sent: unknown[] = [];
  await writer.write({ jsonrpc: "2.0", id: 0, method: "initialize", params });
  await writer.write({
    jsonrpc: "2.0",
    id: 1,
    method: "session/new",
    params: { cwd: "/srv", mcpServers: [] },
  });
  for await (const message of stream.readable) {
    sent.push(message);
    if (!("id" in message)) continue;
    if (message.id === 2) break;
    if (message.id !== 1) continue;
    const prompt = { sessionId: "S", prompt: [] };
    await writer.write({ jsonrpc: "2.0", id: 2, method: "session/prompt", params: prompt });
  }
  return sent;
}

function pipes<Stream>(
  ndJsonStream: (output: WritableStream<Uint8Array>, input: ReadableStream<Uint8Array>) => Stream,
): { readonly agentSide: Stream; readonly clientSide: Stream } {
  const toAgent = new TransformStream<Uint8Array, Uint8Array>();
  const toClient = new TransformStream<Uint8Array, Uint8Array>();
  return {
    agentSide: ndJsonStream(toClient.writable, toAgent.readable),
    clientSide: ndJsonStream(toAgent.writable, toClient.readable),
  };
}

function nested(update: object): object {
  return { method: "session/update", params: { sessionId: "S", update } };
}

function inSessionWords(record: Parameters<typeof inWords>[0]): string {
  return `${record.sessionId ?? "agent"}: ${inWords(record)}`;
}
