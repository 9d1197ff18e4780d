/**
 * Honest clients of every wire. Each does what it does over and over, writes down what was
 * acknowledged, and takes a refusal or a lost connection for what it is: no acknowledgement.
 */
import { create, fromBinary, toBinary, type DescMessage, type Message } from "@bufbuild/protobuf";
import { Client as GrpcClient, credentials } from "@grpc/grpc-js";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
// tidy-allow sleep: clients have a pace; the soak itself waits for what it looks for
import { setTimeout as pause } from "node:timers/promises";
import * as keeper from "../../src/wires/keeper/gen/agentkeeper/v1/agentkeeper_pb.ts";
import type { SoakDaemon } from "./daemon.ts";
import type { Ledger } from "./ledger.ts";

const PACE_MS = 25;
const PATIENCE_MS = 15_000;

export interface Soak {
  readonly daemon: SoakDaemon;
  readonly ledger: Ledger;
  /** Of this run: keys never come again. */
  readonly run: string;
  readonly signal: AbortSignal;
}

/** One turn of a client; what it throws is no acknowledgement. */
type Turn = (n: number) => Promise<void>;

export async function repeat(soak: Soak, turn: Turn): Promise<void> {
  for (let n = 0; !soak.signal.aborted; n += 1) {
    await turn(n).catch((error: unknown) => soak.ledger.refused(String(error)));
    await pause(PACE_MS, undefined, { signal: soak.signal }).catch(() => undefined);
  }
}

const JSON_BODY = { "content-type": "application/json" } as const;

async function post<T>(url: string, body: unknown): Promise<T> {
  const answer = await fetch(url, {
    method: "POST",
    headers: JSON_BODY,
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.status} ${text}`);
  return (text.startsWith("{") ? JSON.parse(text) : text) as T;
}

interface Registered {
  readonly agent: { readonly agentId: string };
}

/** Tasks from their making to their end, leases, policies and reports. */
export function httpTurn({ daemon, ledger, run }: Soak): Turn {
  let agent: Registered["agent"] | undefined;
  return async (n) => {
    const api = `${daemon.url}/v1`;
    const told = (fact: string) => ledger.acknowledged("http", fact);
    if (!agent) {
      const card = { name: `soak-${run}` };
      ({ agent } = await post<Registered>(`${api}/agents/register`, { card, ttlMs: 3_600_000 }));
      told(`agent.registered ${agent.agentId}`);
    }
    const { agentId } = agent;
    const { task } = await post<{ task: { id: string } }>(`${api}/tasks/create`, { type: run });
    told(`task.created ${task.id}`);
    const key = `http/${run}/${n}`;
    await post(`${api}/leases/acquire`, { taskId: key, agentId, ttlMs: 3_600_000 });
    told(`lease.acquired ${key}`);
    await post(`${api}/policies/set`, { ...POLICY, id: key });
    told(`policy.set ${key}`);
    const alias = `soak:${run}:${n}`;
    const facts = { name: alias, liveness: { value: "exited", rule: "soaked" } };
    await post(`${api}/fleet/reports`, { alias, agentId: alias, facts });
    told(`fleet.reported ${alias}`);
  };
}

const POLICY = { subject: "nobody", action: "nothing", resource: "nowhere", effect: "deny" };

/** The queue's other end, by the client of gRPC's own makers. */
export function grpcTurn({ daemon, ledger, run }: Soak): Turn {
  const client = new GrpcClient(`127.0.0.1:${daemon.grpcPort}`, credentials.createInsecure(), {
    "grpc.max_reconnect_backoff_ms": 500,
  });
  const call = (
    path: string,
    [input, output]: readonly [DescMessage, DescMessage],
    fields: object,
  ) =>
    new Promise<Message>((resolve, reject) => {
      client.makeUnaryRequest<Message, Message>(
        `/agentkeeper.v1.${path}`,
        (message) => Buffer.from(toBinary(input, message as never)),
        (bytes) => fromBinary(output, bytes),
        create(input, fields as never),
        { deadline: Date.now() + PATIENCE_MS },
        (error, answer) => (answer ? resolve(answer) : reject(error ?? new Error("no answer"))),
      );
    });
  let agentId = "";
  return async (n) => {
    const told = (fact: string) => ledger.acknowledged("grpc", fact);
    if (agentId === "") {
      const card = { name: `grpc-${run}` };
      const shapes = [keeper.RegisterRequestSchema, keeper.RegisterResponseSchema] as const;
      const answer = await call("RegistryService/Register", shapes, { card, ttlSeconds: 3_600 });
      ({ agentId } = answer as keeper.RegisterResponse);
      told(`agent.registered ${agentId}`);
    }
    const taskId = `grpc/${run}/${n}`;
    const lease = [keeper.AcquireLeaseRequestSchema, keeper.AcquireLeaseResponseSchema] as const;
    await call("LeaseService/AcquireLease", lease, { taskId, agentId, ttlSeconds: 3_600 });
    told(`lease.acquired ${taskId}`);
    const claim = [keeper.ClaimTaskRequestSchema, keeper.ClaimTaskResponseSchema] as const;
    const claimed = await call("TaskService/ClaimTask", claim, { agentId });
    const { task } = claimed as keeper.ClaimTaskResponse;
    if (!task) return;
    const complete = [keeper.CompleteTaskRequestSchema, keeper.CompleteTaskResponseSchema] as const;
    await call("TaskService/CompleteTask", complete, { taskId: task.id, agentId });
    told(`task.completed ${task.id}`);
  };
}

/** A session for each kill; its leases outlast it. */
export function mcpTurn({ daemon, ledger, run }: Soak): Turn {
  let session = "";
  let era = -1;
  const say = async (body: object) => {
    const answer = await fetch(`${daemon.url}/mcp`, {
      method: "POST",
      headers: {
        ...JSON_BODY,
        accept: "application/json, text/event-stream",
        ...(session && { "mcp-session-id": session }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", ...body }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${answer.status} ${text}`);
    return { text, session: answer.headers.get("mcp-session-id") ?? session };
  };
  return async (n) => {
    if (era !== daemon.era || session === "") {
      session = "";
      const params = {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: `soak-${run}`, version: "1" },
      };
      ({ session } = await say({ id: 0, method: "initialize", params }));
      ({ era } = daemon);
    }
    const key = `mcp/${run}/${n}`;
    const call = { name: "acquire_lease", arguments: { task_id: key, ttl_seconds: 3_600 } };
    const { text } = await say({ id: n + 1, method: "tools/call", params: call });
    if (text.includes("You hold")) ledger.acknowledged("mcp", `lease.acquired ${key}`);
    else session = "";
  };
}

/** Agents with a card of their own, each heard of once. */
export function a2aTurn({ daemon, ledger, run, signal }: Soak): Turn {
  const server: Server = createServer(({ url = "" }, response) => {
    const [, name] = /^\/(a[^/]+)\//.exec(url) ?? [];
    if (name === undefined) response.writeHead(404).end();
    else response.writeHead(200, JSON_BODY).end(JSON.stringify(cardOf(name)));
  });
  server.listen(0, "127.0.0.1");
  signal.addEventListener("abort", () => server.close().closeAllConnections());
  const cardOf = (name: string) => ({
    name,
    description: "soaked",
    version: "1",
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${name}/a2a`,
    capabilities: {},
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [],
  });
  return async (n) => {
    const card = cardOf(`a${run}-${n}`);
    const body = { agent_card: card, interval: 600 };
    const { verified } = await post<{ verified: boolean }>(
      `${daemon.url}/registry/heartbeat`,
      body,
    );
    if (verified) ledger.acknowledged("a2a", `directory.registered ${card.url}`);
  };
}
