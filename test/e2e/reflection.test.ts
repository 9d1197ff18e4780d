/** `--no-reflection`, by a daemon as it is shipped: nobody can ask what there is to call. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import {
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
} from "../../src/net/grpc/gen/grpc/reflection/v1/reflection_pb.ts";
import { call } from "./grpc.ts";
import { daemon } from "./programs.ts";

const UNIMPLEMENTED = 12;
const METHODS = ["v1", "v1alpha"].map(
  (version) => `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
);

async function ask(path: string, ...args: readonly string[]) {
  const { up } = await daemon("--memory", ...args);
  await using running = up;
  const [, port = ""] = await running.says(/gRPC +\S+:(\d+)/);
  const question = create(ServerReflectionRequestSchema, {
    messageRequest: { case: "listServices", value: "" },
  });
  const listed = await call(Number(port), path, toBinary(ServerReflectionRequestSchema, question));
  const health = await call(Number(port), "/grpc.health.v1.Health/Check", new Uint8Array());
  return { ...listed, health: health.status };
}

test.each(METHODS)("%s lists the services", async (path) => {
  const { status, message } = await ask(path);
  expect(status).toBe(0);
  const { messageResponse } = fromBinary(ServerReflectionResponseSchema, message);
  const listed =
    messageResponse.case === "listServicesResponse" ? messageResponse.value.service : [];
  expect(listed.map(({ name }) => name)).toContain("agentkeeper.v1.RegistryService");
});

test.each(METHODS)("%s is not there with --no-reflection, all else is", async (path) => {
  const { status, message, health } = await ask(path, "--no-reflection");
  expect({ status, bytes: message.length, health }).toEqual({
    status: UNIMPLEMENTED,
    bytes: 0,
    health: 0,
  });
});
