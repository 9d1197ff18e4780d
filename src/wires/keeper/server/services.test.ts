import type { AddressInfo } from "node:net";
import { create, fromBinary, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import * as grpc from "@grpc/grpc-js";
import { afterEach, describe, expect, test, vi } from "vitest";
import { WATCH } from "../../../core/limits.ts";
import { TaskClaims } from "../../../engine/claims.ts";
import type { Engine } from "../../../engine/engine.ts";
import { FrameReader } from "../../../net/grpc/frames.ts";
import { SERVER_LIMITS } from "../../../net/grpc/limits.ts";
import { newWaiting } from "../../../net/waiting.ts";
import { GrpcServer } from "../../../net/grpc/server.ts";
import { definitionOf } from "../../../../test/support/grpc/fixture.ts";
import {
  CARD,
  openEngine,
  register,
  type Fixture,
} from "../../../../test/support/engine/fixture.ts";
import { AgentSearch } from "../../../search/agent-search.ts";
import { eventFrame } from "./event-message.ts";
import type { AgentFinder } from "./finder.ts";
import {
  EntitlementsService,
  EventSchema,
  LeaseService,
  PolicyEffect,
  RegistryService,
  TaskService,
  WatchRequestSchema,
  type ClaimTaskResponse,
  type Event,
  type FindResponse,
  type GetAgentResponse,
  type ListTasksResponse,
} from "../gen/agentkeeper/v1/agentkeeper_pb.ts";
import { permitBy } from "../../../operations/access.ts";
import { addKeeper } from "./services.ts";
import { LIBRARY } from "../../../core/by.ts";

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Opened extends Fixture {
  readonly client: grpc.Client;
  readonly claims: TaskClaims;
  readonly faults: unknown[];
  readonly meters: Map<string, { served: number; took: number }>;
}

const NOTHING: AgentFinder = { find: () => Promise.resolve([]) };

async function open(finderOn: (engine: Engine) => AgentFinder = () => NOTHING): Promise<Opened> {
  const fixture = await openEngine();
  const { engine } = fixture;
  const claims = new TaskClaims({ engine });
  const faults: unknown[] = [];
  const meters = new Map<string, { served: number; took: number }>();
  const server = new GrpcServer({
    limits: SERVER_LIMITS,
    waiting: newWaiting(),
    admit: () => LIBRARY,
    meterOf: (path) => {
      const meter = { served: 0, took: 0 };
      meters.set(path, meter);
      return { served: () => (meter.served += 1), took: () => (meter.took += 1) };
    },
    onFault: (_path, error) => faults.push(error),
  });
  addKeeper(server, { engine, claims, finder: finderOn(engine), permit: permitBy(engine) });
  const { listener } = server;
  const port = await new Promise<number>((resolve) => {
    listener.listen({ host: "127.0.0.1", port: 0 }, () => {
      resolve((listener.address() as AddressInfo).port);
    });
  });
  const client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  cleanups.push(
    () => listener.close(),
    () => client.close(),
    () => engine.close(),
  );
  return { ...fixture, client, claims, faults, meters };
}

interface Method {
  readonly name: string;
  readonly parent: Parameters<typeof definitionOf>[0];
  readonly input: DescMessage;
}

function call<Reply>(
  client: grpc.Client,
  { name, parent, input }: Method,
  request: MessageInitShape<DescMessage>,
): Promise<Reply> {
  const method = definitionOf(parent)[name];
  if (!method) throw new Error(`no method ${name}`);
  const decode = method.responseDeserialize as (bytes: Buffer) => Reply;
  return new Promise((resolve, reject) => {
    const message = create(input, request);
    const { path, requestSerialize } = method;
    client.makeUnaryRequest(path, requestSerialize, decode, message, (error, reply) => {
      if (error) reject(error);
      else if (reply !== undefined) resolve(reply);
    });
  });
}

function watch({ client }: Opened, topics: readonly string[] = [], from?: number) {
  const { Watch: method } = definitionOf(RegistryService);
  if (!method) throw new Error("no method Watch");
  const metadata = new grpc.Metadata();
  if (from !== undefined) metadata.set("rollcall-from-sequence", String(from));
  const request = create(WatchRequestSchema, { topics: [...topics] });
  const decode = method.responseDeserialize as (bytes: Buffer) => Event;
  const { path, requestSerialize } = method;
  const stream = client.makeServerStreamRequest(path, requestSerialize, decode, request, metadata);
  const seen: Event[] = [];
  const ended = new Promise<grpc.StatusObject>((resolve) => stream.on("status", resolve));
  const begun = new Promise((resolve) => stream.on("metadata", resolve));
  stream.on("error", () => undefined);
  const read = () => stream.on("data", (event: Event) => seen.push(event));
  return { stream, seen, ended, begun, read };
}

describe("a watcher", () => {
  test("is told when the engine closes", async () => {
    const opened = await open();
    const { ended, begun, read } = watch(opened);
    read();
    await begun;
    await opened.engine.close();
    expect(await ended).toMatchObject({
      code: grpc.status.UNAVAILABLE,
      details: "this node is closing",
    });
  });

  test("that reads too slowly is cut, with the reason and the place to resume from", async () => {
    const opened = await open();
    const { engine } = opened;
    const slow = watch(opened);
    await slow.begun;
    const card = { ...CARD, description: "x".repeat(2_000) };
    for (let made = 0; made <= WATCH.lagEvents + 10_000; made += 4_000) {
      const batch = Array.from({ length: 4_000 }, () =>
        engine.execute({ type: "agent.register", card, ttlMs: 3_600_000 }, LIBRARY),
      );
      await Promise.all(batch);
    }
    await vi.waitFor(() => expect(engine.watches).toEqual({ open: 0, cut: 1 }));
    slow.read();
    const { code, details } = await slow.ended;
    expect(code).toBe(grpc.status.RESOURCE_EXHAUSTED);
    expect(details).toMatch(/more than 65536 events behind; resume from \d+/);
    const resumeFrom = Number(/\d+$/.exec(details)?.[0]);
    expect(Number(slow.seen.at(-1)?.sequenceNumber)).toBe(resumeFrom);
  }, 30_000);

  test("that goes away leaves no watch behind", async () => {
    const opened = await open();
    const { stream, begun } = watch(opened);
    await begun;
    expect(opened.engine.watches.open).toBe(1);
    stream.cancel();
    await vi.waitFor(() => expect(opened.engine.watches.open).toBe(0));
    expect(opened.faults).toEqual([]);
  });
});

test("an event is encoded once, however many watch", async () => {
  const { engine } = await open();
  const watches = [engine.watch(), engine.watch()];
  await register(engine);
  const [one, two] = await Promise.all(
    watches.map(async (each) => {
      const [item] = await each.pull();
      if (item?.kind !== "event") throw new Error("no event");
      return eventFrame(item.recorded);
    }),
  );
  expect(one).toBe(two);
  const [message = new Uint8Array()] = new FrameReader(1_000).push(one ?? Buffer.alloc(0));
  const event = fromBinary(EventSchema, message);
  expect(event.payload?.typeUrl).toBe("type.googleapis.com/agentkeeper.v1.AgentInfo");
});

test("a call that waits for a task counts as gone when its deadline passes", async () => {
  const { client, engine, claims } = await open();
  const agentId = await register(engine);
  const { ClaimTask: method } = definitionOf(TaskService);
  if (!method) throw new Error("no method ClaimTask");
  const request = create(TaskService.method.claimTask.input, { agentId });
  const decode = method.responseDeserialize as (bytes: Buffer) => ClaimTaskResponse;
  const refused = new Promise<grpc.ServiceError | null>((resolve) => {
    const options = { deadline: Date.now() + 200 };
    const { path, requestSerialize } = method;
    const metadata = new grpc.Metadata();
    client.makeUnaryRequest(path, requestSerialize, decode, request, metadata, options, resolve);
  });
  await vi.waitFor(() => expect(claims.waiting).toBe(1));
  expect((await refused)?.code).toBe(grpc.status.DEADLINE_EXCEEDED);
  await vi.waitFor(() => expect(claims.waiting).toBe(0));
});

describe("an agent", () => {
  const { getAgent, find, register: enrol } = RegistryService.method;

  test("keeps metadata under any name, and its last heartbeat is the true one", async () => {
    const { client, engine, clock } = await open();
    const metadata = Object.fromEntries([
      ["constructor", "x"],
      ["team", "data"],
    ]);
    const card = { ...CARD, metadata };
    const { agentId } = await call<{ agentId: string }>(client, enrol, { card });
    await clock.advance(5_000);
    await engine.heartbeat(agentId, LIBRARY);
    const { agent } = await call<GetAgentResponse>(client, getAgent, { agentId });
    expect(agent?.card?.metadata).toEqual(metadata);
    const { registeredAt, lastHeartbeatAt } = agent ?? {};
    expect(Number(lastHeartbeatAt?.seconds) - Number(registeredAt?.seconds)).toBe(5);
  });

  test("that was heard last is found first", async () => {
    // It ends with its engine.
    const { client, engine, clock } = await open((on) => new AgentSearch({ engine: on }));
    const ids = [await register(engine), await register(engine), await register(engine)];
    for (const id of [ids[1], ids[2], ids[0]]) {
      await clock.advance(1_000);
      await engine.heartbeat(id ?? "", LIBRARY);
    }
    const { agents } = await call<FindResponse>(client, find, { limit: 2 });
    expect(agents.map(({ agentId }) => agentId)).toEqual([ids[0], ids[2]]);
  });
});

test("a list that no client would take is refused, and calls are counted", async () => {
  const { client, engine, meters } = await open();
  const { listTasks } = TaskService.method;
  const input = Buffer.alloc(1_500_000).toString("base64");
  for (let i = 0; i < 3; i += 1) {
    const task = { taskType: "any", input, requiredTools: [], maxRetries: 0, ttlMs: 0 };
    await engine.execute({ type: "task.create", ...task }, LIBRARY);
  }
  await expect(call(client, listTasks, {})).rejects.toMatchObject({
    code: grpc.status.RESOURCE_EXHAUSTED,
    details: expect.stringContaining("the requested tasks have more than") as string,
  });
  const claimed = await call<ListTasksResponse>(client, listTasks, { status: 2 });
  expect(claimed.tasks).toEqual([]);
  const counted = meters.get("/agentkeeper.v1.TaskService/ListTasks");
  expect(counted).toEqual({ served: 2, took: 2 });
});

test.each([
  [LeaseService.method.acquireLease, { taskId: "" }, "task_id is empty"],
  [LeaseService.method.acquireLease, { taskId: "k" }, "agent_id is empty"],
  [RegistryService.method.register, { card: CARD, ttlSeconds: 90_000 }, "ttl_seconds is 90000 s"],
  [TaskService.method.createTask, { type: "t", maxRetries: 1_001 }, "max_retries is 1001, at most"],
  [TaskService.method.createTask, { type: "t", requiredTools: [""] }, "required_tools[0] is empty"],
  [TaskService.method.getTask, {}, "task_id is empty"],
  [
    EntitlementsService.method.setPolicy,
    { policy: { effect: PolicyEffect.DENY } },
    "policy.id is empty",
  ],
  [
    EntitlementsService.method.listPolicies,
    { subjectPrefix: "x".repeat(300) },
    "subject_prefix has 300 characters",
  ],
])("a refusal of %s names the field as the proto does: %j", async (method, request, why) => {
  const { client } = await open();
  const refused: unknown = await call(client, method, request).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: grpc.status.INVALID_ARGUMENT });
  expect((refused as grpc.ServiceError).details.slice(0, why.length)).toBe(why);
});
