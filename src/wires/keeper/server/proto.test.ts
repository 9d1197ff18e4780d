import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { fromBinary, toJson } from "@bufbuild/protobuf";
import {
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  type FileDescriptorProto,
} from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import * as keeper from "../gen/agentkeeper/v1/agentkeeper_pb.ts";
import * as health from "../../../net/grpc/gen/grpc/health/v1/health_pb.ts";
import * as reflection from "../../../net/grpc/gen/grpc/reflection/v1/reflection_pb.ts";
import * as oldReflection from "../../../net/grpc/gen/grpc/reflection/v1alpha/reflection_pb.ts";

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL("../../../..", import.meta.url));

function compiled(...folders: readonly string[]): readonly FileDescriptorProto[] {
  const buf = require.resolve("@bufbuild/buf/bin/buf");
  const paths = folders.flatMap((folder) => ["--path", `proto/${folder}`]);
  const options = ["--exclude-source-info", "--exclude-imports", ...paths, "-o", "-"];
  const args = [buf, "build", "proto", ...options];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, maxBuffer: 1e8 });
  expect(stderr.toString()).toBe("");
  return fromBinary(FileDescriptorSetSchema, stdout).file;
}

/** As JSON, without what the generator leaves out because it follows from the rest. */
function shape(file: FileDescriptorProto): unknown {
  const text = JSON.stringify(toJson(FileDescriptorProtoSchema, file), (key, value: unknown) =>
    key === "jsonName" ? undefined : value,
  );
  return JSON.parse(text);
}

test("the generated code is that of the files in proto/", () => {
  const generated = [
    keeper.file_agentkeeper_v1_agentkeeper,
    health.file_grpc_health_v1_health,
    reflection.file_grpc_reflection_v1_reflection,
    oldReflection.file_grpc_reflection_v1alpha_reflection,
  ];
  const byName = (a: FileDescriptorProto, b: FileDescriptorProto) => (a.name < b.name ? -1 : 1);
  const ours = generated.map(({ proto }) => proto).sort(byName);
  expect(ours.map(shape)).toEqual([...compiled("agentkeeper", "grpc")].sort(byName).map(shape));
});

test("health counts its statuses as every client of gRPC does", () => {
  const { values } = health.HealthCheckResponse_ServingStatusSchema;
  const names = values.map(({ name, number }) => `${number} ${name}`);
  expect(names).toEqual(["0 UNKNOWN", "1 SERVING", "2 NOT_SERVING", "3 SERVICE_UNKNOWN"]);
});

describe("the contract of the AgentKeeper SDK", () => {
  test.each([
    [keeper.AgentCardSchema, "name description version capabilities tools metadata"],
    [keeper.AgentInfoSchema, "agent_id card status registered_at last_heartbeat_at"],
    [keeper.LeaseSchema, "task_id holder_agent_id token acquired_at expires_at"],
    [keeper.ElectionStateSchema, "group leader_agent_id term elected_at"],
    [keeper.EventSchema, "topic payload sequence_number occurred_at"],
    [keeper.PolicySchema, "id subject action resource effect"],
    [
      keeper.TaskSchema,
      "id type input output status required_tools max_retries retry_count claimed_by_agent_id " +
        "failure_reason created_at claimed_at completed_at",
    ],
    [keeper.RegisterRequestSchema, "card ttl_seconds"],
    [keeper.FindRequestSchema, "query tools limit"],
    [keeper.AcquireLeaseRequestSchema, "task_id agent_id ttl_seconds"],
    [keeper.AcquireLeaseResponseSchema, "lease acquired"],
    [keeper.RenewLeaseRequestSchema, "task_id agent_id token ttl_seconds"],
    [keeper.ReleaseLeaseRequestSchema, "task_id agent_id token"],
    [keeper.CheckPolicyRequestSchema, "subject action resource"],
    [keeper.CheckPolicyResponseSchema, "allowed reason"],
    [keeper.CreateTaskRequestSchema, "type input required_tools max_retries ttl_seconds"],
    [keeper.CompleteTaskRequestSchema, "task_id agent_id output"],
    [keeper.FailTaskRequestSchema, "task_id agent_id reason"],
  ])("%s numbers its fields in this order", (schema, names) => {
    expect(schema.fields.map(({ name, number }) => `${number} ${name}`)).toEqual(
      names.split(" ").map((name, i) => `${i + 1} ${name}`),
    );
  });

  test("its services have these methods", () => {
    const services = [
      keeper.RegistryService,
      keeper.LeaseService,
      keeper.ElectionService,
      keeper.EntitlementsService,
      keeper.TaskService,
    ];
    expect(services.map((each) => each.methods.map(({ name }) => name).join(" "))).toEqual([
      "Register Heartbeat Deregister GetAgent Find Watch",
      "AcquireLease RenewLease ReleaseLease",
      "Campaign Resign WatchElection",
      "SetPolicy DeletePolicy ListPolicies CheckPolicy",
      "CreateTask ClaimTask CompleteTask FailTask GetTask ListTasks",
    ]);
  });
});
