/** A denial of one resource, at the doors of a real daemon: the call says which one it means. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { startEmbedded, type Embedded } from "../../src/embedded.ts";
import { LeaseService } from "../../src/wires/keeper/gen/agentkeeper/v1/agentkeeper_pb.ts";
import { Person } from "./person.ts";

let daemon: Embedded;
let ci: Person;

beforeAll(async () => {
  daemon = await startEmbedded();
  ci = await Person.with(daemon, "ci", "agent");
  await using admin = await Person.with(daemon, "root", "admin");
  const deny = { effect: "deny", subject: "token:ci" };
  const prod = { ...deny, id: "prod", action: "lease.*", resource: "lease:prod/*" };
  await admin.post("/v1/policies/set", prod);
  await admin.post("/v1/policies/set", {
    ...deny,
    id: "rm",
    action: "job.submit",
    resource: "agent:rm",
  });
});

afterAll(async () => {
  await ci[Symbol.asyncDispose]();
  await daemon.close();
});

const DENIED = 'token:ci (agent) may not lease.acquire lease:prod/db: denied by policy "prod"';

test("HTTP refuses what is denied, and nothing besides", async () => {
  const acquire = (taskId: string) => ci.post("/v1/leases/acquire", { taskId, agentId: "nobody" });
  const refused = await acquire("prod/db");
  expect(refused.status).toBe(403);
  expect(refused.body).toMatchObject({ error: { message: DENIED } });
  expect((await acquire("test/db")).status).toBe(404);
});

test("gRPC refuses what is denied, and nothing besides", async () => {
  const { acquireLease } = LeaseService.method;
  const acquire = (taskId: string) => ci.call(acquireLease, { taskId, agentId: "nobody" });
  await expect(acquire("prod/db")).rejects.toMatchObject({ code: 7, details: DENIED });
  await expect(acquire("test/db")).rejects.toMatchObject({ code: 5 });
});

test("MCP refuses what is denied, and nothing besides", async () => {
  const client = await ci.mcp();
  const acquire = (task_id: string) =>
    client.callTool({ name: "acquire_lease", arguments: { task_id } });
  expect(JSON.stringify(await acquire("prod/db"))).toContain("PERMISSION_DENIED");
  expect(await acquire("test/db")).toMatchObject({ structuredContent: { acquired: true } });
});

test("ARCP refuses what is denied, and nothing besides", async () => {
  const client = await ci.arcp();
  for (const agent of ["rm", "rm@1.0.0"]) {
    await expect(client.submit({ agent })).rejects.toThrow(/denied by policy "rm"/);
  }
  await expect(client.submit({ agent: "other" })).rejects.toThrow(/other/);
});
