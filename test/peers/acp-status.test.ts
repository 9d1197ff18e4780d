/**
 * Real agents on plain pipes, with a real client: what both say is looked at on its way, byte by
 * byte, and the status that follows is the one that was meant.
 */
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import * as v1 from "@agentclientprotocol/sdk";
import * as v2 from "@agentclientprotocol/sdk/experimental/v2";
import { expect, test, vi } from "vitest";
import { ACP_PYTHON, lacks } from "../../scripts/prerequisites.mjs";
import { AcpDeriver, FrameReader, type AcpRecord, type Sender } from "../../src/acp.ts";
import { environment } from "../e2e/programs.ts";

const TS_AGENT = [process.execPath, fileURLToPath(new URL("acp/worker.mjs", import.meta.url))];
const PYTHON_AGENT = [ACP_PYTHON, fileURLToPath(new URL("acp/worker.py", import.meta.url))];

test("v1, TypeScript: tools side by side, a question, a no, and a call left open", async () => {
  await using agent = new WatchedAgent(TS_AGENT);
  await talkV1(agent, async (peer) => {
    await prompt(peer, "Change foo");
  });
  expect(agent.timeline).toEqual([
    "idle",
    "thinking: Thinking",
    "thinking: Thinking [Step 2/2: Change]",
    "reading: Read a.rs [Step 2/2: Change]",
    "reading: Grep foo (+1 more) [Step 2/2: Change]",
    "reading: Grep foo (+2 more) [Step 2/2: Change]",
    "reading: Grep foo (+1 more) [Step 2/2: Change]",
    "writing: Edit c.rs [Step 2/2: Change]",
    "waiting: Edit c.rs [Step 2/2: Change]",
    "thinking: Thinking [Step 2/2: Change]",
    "reading: Reading b.rs [Step 2/2: Change]",
    "thinking: Thinking [Step 2/2: Change]",
    "thinking: Responding [Step 2/2: Change]",
    "idle: Done",
  ]);
  expect(agent.deriver.facts).toMatchObject({
    protocolVersion: 1,
    agent: { name: "worker", version: "1.0.0" },
    client: { name: "peer-client", version: "3" },
  });
  expect(agent.deriver.session("work")).toMatchObject({ cwd: "/srv", goal: "Change foo" });
});

test("v1, TypeScript: a turn that is cancelled", async () => {
  await using agent = new WatchedAgent(TS_AGENT);
  await talkV1(agent, async (peer) => {
    const answer = prompt(peer, "Wait");
    await vi.waitFor(() => expect(agent.timeline.at(-1)).toBe("writing: sleep"));
    await peer.notify(v1.methods.agent.session.cancel, { sessionId: "work" });
    await answer;
  });
  expect(agent.timeline.slice(-2)).toEqual(["writing: sleep", "idle: Cancelled"]);
});

test("v2, TypeScript: a person is needed, and something runs on behind", async () => {
  await using agent = new WatchedAgent(TS_AGENT);
  const info = { name: "peer-client", version: "3" };
  await v2
    .client({ name: "peer" })
    .onRequest(v2.methods.client.session.requestPermission, () => ({
      outcome: { outcome: "selected", optionId: "yes" },
    }))
    .connectWith(v2.ndJsonStream(agent.input, agent.output), async (peer) => {
      await peer.request(v2.methods.agent.initialize, { protocolVersion: 2, info });
      await peer.request(v2.methods.agent.session.new, { cwd: "/srv" });
      const block = { type: "text" as const, text: "Serve" };
      await peer.request(v2.methods.agent.session.prompt, { sessionId: "work", prompt: [block] });
      await vi.waitFor(() => expect(agent.timeline.at(-1)).toBe("idle: Done (background)"));
    });
  expect(agent.timeline).toEqual([
    "idle",
    "thinking: Thinking",
    "writing: npm start",
    "waiting: Input needed",
    "waiting: Open port 80?",
    "waiting: Input needed",
    "writing: npm start",
    "idle: Done (background)",
  ]);
  expect(agent.deriver.facts).toMatchObject({ protocolVersion: 2, client: info });
});

test.skipIf(lacks("acp-sdk"))("v1, Python: a plan, a thought, a tool, an answer", async () => {
  await using agent = new WatchedAgent(PYTHON_AGENT);
  await talkV1(agent, async (peer) => {
    await prompt(peer, "Hello");
  });
  expect(agent.timeline).toEqual([
    "idle",
    "thinking: Thinking",
    "thinking: Thinking [Step 1/2: Look]",
    "reading: read notes.txt [Step 1/2: Look]",
    "thinking: Thinking [Step 1/2: Look]",
    "thinking: Responding [Step 1/2: Look]",
    "idle: Done",
  ]);
  expect(agent.deriver.facts.agent).toMatchObject({ name: "python-worker" });
});

/** A process on pipes, with an ear on both. */
class WatchedAgent implements AsyncDisposable {
  readonly deriver = new AcpDeriver();
  readonly timeline: string[] = [];
  readonly input: WritableStream<Uint8Array>;
  readonly output: ReadableStream<Uint8Array>;
  readonly #child: ReturnType<typeof spawn>;
  readonly #ended: Promise<unknown>;

  constructor([command = "", ...args]: readonly string[]) {
    const env = environment("/nowhere", { PYTHONDONTWRITEBYTECODE: "1" });
    const child = spawn(command, args, { env, stdio: ["pipe", "pipe", "inherit"] });
    this.#child = child;
    const toAgent = this.#ear("client");
    const stdin = Writable.toWeb(child.stdin) as WritableStream<Uint8Array>;
    const isFed = toAgent.readable.pipeTo(stdin);
    this.#ended = Promise.allSettled([isFed, new Promise((end) => child.once("close", end))]);
    this.input = toAgent.writable;
    this.output = (Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>).pipeThrough(
      this.#ear("agent"),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  #ear(sender: Sender): TransformStream<Uint8Array, Uint8Array> {
    const reader = new FrameReader();
    return new TransformStream({
      transform: (chunk, controller) => {
        for (const frame of reader.push(chunk)) {
          for (const record of this.deriver.observe(sender, frame, Date.now())) this.#note(record);
        }
        controller.enqueue(chunk);
      },
    });
  }

  #note({ sessionId, status, message, currentTask, background }: AcpRecord): void {
    if (sessionId === null) return;
    const words = [
      message === null ? status : `${status}: ${message}`,
      ...(currentTask === null ? [] : [`[${currentTask}]`]),
      ...(background ? ["(background)"] : []),
    ].join(" ");
    if (this.timeline.at(-1) !== words) this.timeline.push(words);
  }
}

async function talkV1(
  agent: WatchedAgent,
  talk: (peer: v1.ClientContext) => Promise<void>,
): Promise<void> {
  await v1
    .client({ name: "peer" })
    .onRequest(v1.methods.client.session.requestPermission, () => ({
      outcome: { outcome: "selected", optionId: "no" },
    }))
    .onRequest(v1.methods.client.fs.readTextFile, () => ({ content: "fn main() {}" }))
    .onNotification(v1.methods.client.session.update, () => {})
    .connectWith(v1.ndJsonStream(agent.input, agent.output), async (peer) => {
      const clientInfo = { name: "peer-client", version: "3" };
      await peer.request(v1.methods.agent.initialize, { protocolVersion: 1, clientInfo });
      await peer.request(v1.methods.agent.session.new, { cwd: "/srv", mcpServers: [] });
      await talk(peer);
    });
}

async function prompt(peer: v1.ClientContext, text: string): Promise<void> {
  const blocks = [{ type: "text" as const, text }];
  await peer.request(v1.methods.agent.session.prompt, { sessionId: "work", prompt: blocks });
}
