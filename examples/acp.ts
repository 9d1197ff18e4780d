/** An agent that says what it does, and a client that is told: ACP, with the SDK on both sides. */
import assert from "node:assert/strict";
// #region use
import { agent, client, methods, ndJsonStream } from "@agentclientprotocol/sdk";
import { onAgentStatus, withAgentStatus } from "rollcall/acp";

const { agentSide, clientSide } = pipes(); // or ndJsonStream on the pipes of a process

// The agent: wrap the stream, then say what you do, in the form that the client understands.
const { stream, report } = withAgentStatus(agentSide);
agent({ name: "finder" })
  .onRequest(methods.agent.initialize, () => ({ protocolVersion: 1 }))
  .onRequest(methods.agent.session.new, () => ({ sessionId: "s-1" }))
  .onRequest(methods.agent.session.prompt, async ({ params }) => {
    await report(params.sessionId, { status: "reading", currentTask: "Step 1/2: Find the bug" });
    return { stopReason: "end_turn" };
  })
  .connect(stream);

// The client: wrap the stream, and be told of any agent, also of one that says nothing itself.
const told: string[] = [];
const watched = onAgentStatus(
  clientSide,
  ({ sessionId, status, currentTask }) => {
    if (sessionId !== null) told.push(currentTask ?? status); // null is the agent as a whole
  },
  { isRaw: true }, // every change; without it what a person can follow
);
await client({ name: "editor" }).connectWith(watched, async (peer) => {
  await peer.request(methods.agent.initialize, { protocolVersion: 1 });
  using session = await peer.buildSession(process.cwd()).start();
  await session.prompt("Where is the bug?");
});
console.log(told); // [ 'idle', 'thinking', 'Step 1/2: Find the bug', 'idle', 'idle' ]
// #endregion

function pipes(): { agentSide: Stream; clientSide: Stream } {
  const toAgent = new TransformStream<Uint8Array, Uint8Array>();
  const toClient = new TransformStream<Uint8Array, Uint8Array>();
  return {
    agentSide: ndJsonStream(toClient.writable, toAgent.readable),
    clientSide: ndJsonStream(toAgent.writable, toClient.readable),
  };
}

type Stream = ReturnType<typeof ndJsonStream>;

assert.deepEqual(told, ["idle", "thinking", "Step 1/2: Find the bug", "idle", "idle"]);
