import { expect, test } from "vitest";
import * as proto from "../gen/agentkeeper/v1/agentkeeper_pb.ts";
import { isRepeatable } from "./retries.ts";

const services = [
  proto.RegistryService,
  proto.LeaseService,
  proto.ElectionService,
  proto.EntitlementsService,
  proto.TaskService,
];

test("nothing that would be done twice is sent twice", () => {
  const methods = services.flatMap((service) => service.methods.map(({ localName }) => localName));
  expect(methods.filter((method) => !isRepeatable(method))).toEqual([
    "register",
    "deletePolicy",
    "createTask",
    "claimTask",
    "completeTask",
    "failTask",
  ]);
  expect(isRepeatable("constructor")).toBe(false);
});
