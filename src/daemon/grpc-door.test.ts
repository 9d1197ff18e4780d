import { create, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { ADMITTED } from "../wires/route.ts";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import * as grpc from "@grpc/grpc-js";
import { afterEach, describe, expect, test, vi } from "vitest";
import { TestClock } from "../../test/support/engine/fixture.ts";
import { SERVER_LIMITS } from "../net/grpc/limits.ts";
import { definitionOf } from "../../test/support/grpc/fixture.ts";
import {
  Health as HealthService,
  HealthCheckRequestSchema,
  HealthCheckResponse_ServingStatus as Serving,
  type HealthCheckResponse,
  type HealthListResponse,
} from "../net/grpc/gen/grpc/health/v1/health_pb.ts";
import {
  ServerReflection,
  ServerReflectionRequestSchema,
  type ServerReflectionResponse,
} from "../net/grpc/gen/grpc/reflection/v1/reflection_pb.ts";
import { Health } from "../net/grpc/health.ts";
import { LOCAL } from "../core/principals.ts";
import { CallRate } from "./call-rate.ts";
import { GrpcDoor, type GrpcDoorOptions } from "./grpc-door.ts";
import { anybodyHere, byRoles, FREE, say, STRANGER } from "../../test/support/daemon/fixture.ts";

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function open(options: Partial<GrpcDoorOptions> & { isReflecting?: boolean } = {}) {
  const door = new GrpcDoor({
    authenticator: anybodyHere(),
    permit: byRoles,
    calls: new CallRate(0),
    ...options,
  });
  const clock = new TestClock();
  const after = (ms: number, then: () => void) => clock.after(ms, then);
  const state = { isServing: true };
  const services = () => door.services.map(({ typeName }) => typeName);
  const health = new Health({ isServing: () => state.isServing, services, after });
  door.add(HealthService, health.handlers, { accesses: ADMITTED });
  if (options.isReflecting ?? true) door.addReflection();
  const { port } = await door.listen(FREE);
  const client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  cleanups.push(
    () => door.close(0),
    () => client.close(),
  );
  return { door, port, client, clock, state, health };
}

type Opened = Awaited<ReturnType<typeof open>>;

const methods = definitionOf(HealthService);

interface Said {
  readonly service?: string;
  readonly metadata?: grpc.Metadata;
}

function call<Reply>(client: grpc.Client, name: string, said: Said = {}): Promise<Reply> {
  const { service = "", metadata = new grpc.Metadata() } = said;
  const method = methods[name];
  if (!method) throw new Error(`no method ${name}`);
  const request = create(HealthCheckRequestSchema, { service });
  return new Promise<Reply>((resolve, reject) => {
    const { path, requestSerialize, responseDeserialize } = method;
    const decode = responseDeserialize as (bytes: Buffer) => Reply;
    client.makeUnaryRequest(path, requestSerialize, decode, request, metadata, (error, reply) => {
      if (error) reject(error);
      else if (reply !== undefined) resolve(reply);
    });
  });
}

function watch({ client }: Opened, service = "") {
  const method = methods["Watch"];
  if (!method) throw new Error("no method Watch");
  const decode = method.responseDeserialize as (bytes: Buffer) => HealthCheckResponse;
  const request = create(HealthCheckRequestSchema, { service });
  const stream = client.makeServerStreamRequest(
    method.path,
    method.requestSerialize,
    decode,
    request,
  );
  const seen: Serving[] = [];
  const ended = { is: false };
  stream.on("data", ({ status }: HealthCheckResponse) => seen.push(status));
  stream.on("end", () => (ended.is = true)).on("error", () => undefined);
  return { seen, ended, stream };
}

describe("a caller that calls too often", () => {
  const ci = { authenticate: () => ({ ...LOCAL, name: "token:ci" }) };

  test("is refused by the bucket that it has at all doors", async () => {
    const calls = new CallRate(1, () => 0);
    const { client } = await open({ calls, authenticator: ci });
    calls.take("token:ci");
    await call(client, "Check");
    await expect(call(client, "Check")).rejects.toMatchObject({
      code: grpc.status.RESOURCE_EXHAUSTED,
      details: "token:ci makes too many requests; see rate_limit",
    });
  });

  test("is counted by its address, too, on another machine", async () => {
    const calls = new CallRate(1, () => 0);
    const { client } = await open({ calls, authenticator: ci, peerOf: () => STRANGER });
    calls.take("192.0.2.7");
    calls.take("192.0.2.7");
    await expect(call(client, "Check")).rejects.toMatchObject({
      details: "192.0.2.7 makes too many requests; see rate_limit",
    });
  });

  test("is never the daemon's own user", async () => {
    const { client } = await open({ calls: new CallRate(1, () => 0) });
    for (let i = 0; i < 5; i += 1) await call(client, "Check");
  });
});

describe("health", () => {
  test("is told of the whole and of each service", async () => {
    const { client, state } = await open();
    const whole = await call<HealthCheckResponse>(client, "Check");
    expect(whole.status).toBe(Serving.SERVING);
    state.isServing = false;
    const one = await call<HealthCheckResponse>(client, "Check", {
      service: "grpc.health.v1.Health",
    });
    expect(one.status).toBe(Serving.NOT_SERVING);
    await expect(call(client, "Check", { service: "nope" })).rejects.toMatchObject({
      code: grpc.status.NOT_FOUND,
      details: "no service nope",
    });
    const { statuses } = await call<HealthListResponse>(client, "List");
    expect(Object.keys(statuses)).toContain("grpc.health.v1.Health");
    expect(Object.keys(statuses)).toContain("");
  });

  test("is watched: the status now, every change, and the end", async () => {
    const opened = await open();
    const { clock, state, health } = opened;
    const whole = watch(opened);
    const unknown = watch(opened, "nope");
    await vi.waitFor(() => expect(whole.seen).toEqual([Serving.SERVING]));
    await vi.waitFor(() => expect(unknown.seen).toEqual([Serving.SERVICE_UNKNOWN]));
    state.isServing = false;
    await clock.advance(1_000);
    state.isServing = true;
    await clock.advance(1_000);
    const changes = [Serving.SERVING, Serving.NOT_SERVING, Serving.SERVING];
    await vi.waitFor(() => expect(whole.seen).toEqual(changes));
    health.close();
    await vi.waitFor(() => expect(whole.ended.is && unknown.ended.is).toBe(true));
    expect(whole.seen.at(-1)).toBe(Serving.NOT_SERVING);
    expect(clock.timers).toBe(0);
  });
});

type Question = NonNullable<
  MessageInitShape<typeof ServerReflectionRequestSchema>["messageRequest"]
>;

async function reflect({ client }: Opened, name: string, questions: readonly Question[]) {
  const { ServerReflectionInfo: method } = definitionOf(ServerReflection, name);
  if (!method) throw new Error("no method");
  const decode = method.responseDeserialize as (bytes: Buffer) => ServerReflectionResponse;
  const stream = client.makeBidiStreamRequest(method.path, method.requestSerialize, decode);
  for (const messageRequest of questions) {
    stream.write(create(ServerReflectionRequestSchema, { messageRequest }));
  }
  stream.end();
  const answers: ServerReflectionResponse["messageResponse"][] = [];
  for await (const { messageResponse } of stream as AsyncIterable<ServerReflectionResponse>) {
    answers.push(messageResponse);
  }
  return answers;
}

describe("reflection", () => {
  const names = ["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"];

  test.each(names)("answers under %s", async (name) => {
    const opened = await open();
    const [listed, byName, bySymbol, byMethod] = await reflect(opened, name, [
      { case: "listServices", value: "" },
      { case: "fileByFilename", value: "grpc/health/v1/health.proto" },
      { case: "fileContainingSymbol", value: "grpc.health.v1.HealthCheckResponse.ServingStatus" },
      { case: "fileContainingSymbol", value: "grpc.health.v1.Health.Check" },
    ]);
    expect(listed).toMatchObject({
      value: {
        service: [{ name: "grpc.health.v1.Health" }, { name: names[0] }, { name: names[1] }],
      },
    });
    for (const answer of [byName, bySymbol, byMethod]) {
      if (answer?.case !== "fileDescriptorResponse") throw new Error(`got ${answer?.case}`);
      const files = answer.value.fileDescriptorProto.map((bytes) =>
        fromBinary(FileDescriptorProtoSchema, bytes),
      );
      expect(files.map((file) => file.name)).toEqual(["grpc/health/v1/health.proto"]);
    }
  });

  test("says what it does not have", async () => {
    const opened = await open();
    const answers = await reflect(opened, ServerReflection.typeName, [
      { case: "fileContainingSymbol", value: "nope.Nope" },
      { case: "fileByFilename", value: "nope.proto" },
      { case: "fileContainingExtension", value: { containingType: "x", extensionNumber: 1 } },
      { case: "allExtensionNumbersOfType", value: "nope.Nope" },
      { case: undefined },
    ]);
    const codes = answers.map((each) => each.case === "errorResponse" && each.value.errorCode);
    const { NOT_FOUND, INVALID_ARGUMENT } = grpc.status;
    expect(codes).toEqual([NOT_FOUND, NOT_FOUND, NOT_FOUND, NOT_FOUND, INVALID_ARGUMENT]);
  });

  test("is off when it was not added", async () => {
    const opened = await open({ isReflecting: false });
    const asked = reflect(opened, ServerReflection.typeName, [{ case: "listServices", value: "" }]);
    await expect(asked).rejects.toMatchObject({ code: grpc.status.UNIMPLEMENTED });
  });
});

describe("a call", () => {
  test("from another machine is refused, and reads which address it came from", async () => {
    const { client } = await open({ peerOf: () => STRANGER });
    await expect(call(client, "Check")).rejects.toMatchObject({
      code: grpc.status.PERMISSION_DENIED,
      details: expect.stringContaining(
        "only this machine is answered: the call came from 192.0.2.7",
      ) as string,
    });
  });

  test("passed on by a proxy is refused as well", async () => {
    const { client } = await open();
    const metadata = new grpc.Metadata();
    metadata.set("x-forwarded-for", "192.0.2.7");
    await expect(call(client, "Check", { metadata })).rejects.toMatchObject({
      code: grpc.status.PERMISSION_DENIED,
    });
  });

  test("is let in by an authenticator that takes its time, not by one that fails", async () => {
    const slow = { authenticate: async () => ({ ...LOCAL, name: "alice" }) };
    const { client } = await open({ authenticator: slow });
    expect((await call<HealthCheckResponse>(client, "Check")).status).toBe(Serving.SERVING);
    const broken = { authenticate: () => Promise.reject(new Error("secret")) };
    const other = await open({ authenticator: broken });
    await expect(call(other.client, "Check")).rejects.toMatchObject({
      code: grpc.status.INTERNAL,
      details: "internal error",
    });
  });

  test("larger than a message may be is refused", async () => {
    const { client } = await open();
    const service = "x".repeat(SERVER_LIMITS.messageBytes);
    await expect(call(client, "Check", { service })).rejects.toMatchObject({
      code: grpc.status.RESOURCE_EXHAUSTED,
    });
  });

  test("that is no gRPC at all disturbs nobody", async () => {
    const { client, port } = await open();
    await say(port, "GET / HTTP/1.1\r\nHost: x\r\n\r\n").closed;
    expect((await call<HealthCheckResponse>(client, "Check")).status).toBe(Serving.SERVING);
  });
});

test("closing cuts streams that do not end by themselves", async () => {
  const opened = await open();
  const { seen } = watch(opened);
  await vi.waitFor(() => expect(seen).toHaveLength(1));
  expect(opened.door.connections).toBe(1);
  await opened.door.close(50);
  expect(opened.door.connections).toBe(0);
});
