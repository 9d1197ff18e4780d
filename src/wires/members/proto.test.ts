import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { fromBinary, toJson } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import type { FileDescriptorProto } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { file_rollcall_members_v1_members } from "./gen/rollcall/members/v1/members_pb.ts";

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL("../../..", import.meta.url));

/** As JSON, without what the generator leaves out because it follows from the rest. */
function shape(file: FileDescriptorProto): unknown {
  const text = JSON.stringify(toJson(FileDescriptorProtoSchema, file), (key, value: unknown) =>
    key === "jsonName" ? undefined : value,
  );
  return JSON.parse(text);
}

test("the generated code is that of the file in proto/", () => {
  const buf = require.resolve("@bufbuild/buf/bin/buf");
  const what = ["proto", "--path", "proto/rollcall", "--exclude-source-info", "-o", "-"];
  const { stdout } = spawnSync(process.execPath, [buf, "build", ...what], { cwd: root });
  const { file } = fromBinary(FileDescriptorSetSchema, stdout);
  expect(file.map(shape)).toEqual([shape(file_rollcall_members_v1_members.proto)]);
});
