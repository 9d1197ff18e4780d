/** Two principals at the real doors of one daemon: every event says which of them it came of. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openCallers, type Callers, type TestCaller } from "../../test/support/daemon/callers.ts";
import { cardOf } from "../../test/support/directory/fixture.ts";
import { ArcpClient } from "../wires/arcp/client/client.ts";
import { RegistryService, TaskService } from "../wires/keeper/gen/agentkeeper/v1/agentkeeper_pb.ts";

let callers: Callers;
let local: TestCaller;
let ann: TestCaller;
let bob: TestCaller;

beforeAll(async () => {
  callers = await openCallers();
  local = callers.local;
  ann = await callers.token("ann", "agent");
  bob = await callers.token("bob", "agent");
});

afterAll(() => callers[Symbol.asyncDispose]());

async function callersOf(...topics: readonly string[]): Promise<readonly string[]> {
  const events = await local.events(...topics);
  return events.map(({ by }) => (by ? `${by.principal} ${by.wire} ${by.peer}` : "nobody"));
}

describe("every event says its caller", () => {
  test("over HTTP and gRPC", async () => {
    await ann.http("/v1/agents/register", { card: { name: "one" } });
    await bob.grpc(RegistryService.method.register, { card: { name: "two" } });
    await local.http("/v1/agents/register", { card: { name: "three" } });
    expect(await callersOf("agent.registered")).toEqual([
      "token:ann http 127.0.0.1",
      "token:bob grpc 127.0.0.1",
      "local http 127.0.0.1",
    ]);
    const { body } = await local.http("/v1/agents");
    expect(body["agents"]).toMatchObject([{ owner: "token:ann" }, { owner: "token:bob" }, {}]);
  });

  test("over MCP", async () => {
    await bob.mcp("create_task", { type: "ocr", input: "scan" });
    await ann.grpc(TaskService.method.createTask, { type: "ocr" });
    expect(await callersOf("task.created")).toEqual([
      "token:bob mcp 127.0.0.1",
      "token:ann grpc 127.0.0.1",
    ]);
  });

  test("over A2A, the daemon's own fetch of the card included", async () => {
    const agent_card = cardOf(callers.daemon.url);
    await ann.http("/.well-known/agents/heartbeat", { agent_card });
    expect(await callersOf("directory.")).toEqual(["token:ann a2a 127.0.0.1", "local directory "]);
  });

  test("over ARCP, by the token of the hello", async () => {
    const url = `${callers.daemon.url.replace("http", "ws")}/arcp`;
    await using client = await ArcpClient.connect(url, { token: bob.secret ?? "" });
    expect(client.session.runtime.name).toBe("rollcall");
    expect(await callersOf("session.opened")).toEqual(["token:bob arcp 127.0.0.1"]);
  });

  test("and nobody where the daemon acts of its own accord", async () => {
    expect(await callersOf("node.leading")).toEqual(["nobody"]);
  });
});
