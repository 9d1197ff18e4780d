/**
 * A denial at the doors of a real daemon: of one resource, where the call says which one it means,
 * and of what a stream tells that was opened before.
 */
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import {
  ElectionService,
  LeaseService,
} from "../../src/wires/keeper/gen/agentkeeper/v1/agentkeeper_pb.ts";
import type { Overview } from "../../src/operations/overview.ts";
import { cardOf } from "../support/directory/fixture.ts";
import { startHosting, type HostingDaemon } from "./daemon.ts";
import { Person } from "./person.ts";

let daemon: HostingDaemon;
let ci: Person;
let admin: Person;

beforeAll(async () => {
  daemon = await startHosting();
  ci = await Person.with(daemon, "ci", "agent");
  admin = await Person.with(daemon, "root", "admin");
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
  for (const person of [ci, admin]) await person[Symbol.asyncDispose]();
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

test("A2A refuses what is denied, and nothing besides", async () => {
  const beat = (url: string) => ci.post("/registry/heartbeat", { agent_card: cardOf(url) });
  const [named, other] = ["http://127.0.0.1:9/named", "http://127.0.0.1:9/other"];
  for (const url of [named, other]) expect((await beat(url)).status).toBe(200);
  await admin.post("/v1/policies/set", {
    id: "card",
    effect: "deny",
    subject: "token:ci",
    action: "directory.add",
    resource: `directory:${named}`,
  });
  expect((await beat(named)).body).toMatchObject({ error: { code: "PERMISSION_DENIED" } });
  expect((await beat(other)).status).toBe(200);
});

const ROW = {
  alias: "script:streamed",
  agentId: "streamed",
  facts: { liveness: { value: "alive" } },
};

test.each([
  ["/v1/fleet", "fleet.read"],
  ["/v1/fleet/streamed", "fleet.read"],
  ["/v1/fleet/streamed/timeline", "fleet.read"],
  ["/v1/questions", "question.read"],
  ["/v1/directory/events", "directory.read"],
])("a stream of %s ends once its caller is denied it, and says why", async (path, action) => {
  const id = action.replace(".", "-");
  const secret = `after ${path}`;
  await ci.post("/v1/fleet/reports", ROW);
  const stream = await ci.stream(path);
  await vi.waitFor(() => expect(stream.heard).not.toBe(""));
  await admin.post("/v1/policies/set", {
    id,
    effect: "deny",
    subject: "token:ci",
    action,
    resource: "*",
  });
  await ci.post("/v1/fleet/reports", { ...ROW, facts: { ...ROW.facts, goal: secret } });
  await vi.waitFor(() => expect(stream.heard).toContain(`denied by policy \\"${id}\\"`));
  expect(stream.heard).not.toContain(secret);
  await expect(ci.stream(path)).rejects.toThrow("403");
  await admin.post("/v1/policies/delete", { id });
});

/** Until the policy is deleted again. */
async function setDenial(action: string, resource = "*", subject = "token:ci"): Promise<void> {
  const policy = { id: "denied", effect: "deny", subject, action, resource };
  expect((await admin.post("/v1/policies/set", policy)).status).toBe(200);
}

async function liftDenial(): Promise<void> {
  await admin.post("/v1/policies/delete", { id: "denied" });
}

test("a timeline leaves out the tasks of an agent for a caller that is denied tasks", async () => {
  const { body } = await ci.post("/v1/agents/register", { card: { name: "worker" } });
  const { agentId } = body["agent"] as { readonly agentId: string };
  const work = async (outputText: string) => {
    const created = await ci.post("/v1/tasks/create", { type: "timed" });
    const { id: taskId } = created.body["task"] as { readonly id: string };
    await ci.post("/v1/tasks/claim", { agentId });
    await ci.post("/v1/tasks/complete", { taskId, agentId, outputText });
  };
  const path = `/v1/fleet/${agentId}/timeline`;
  const [first, second] = ["a first output", "a second output"].map((text) => ({
    text,
    inBase64: Buffer.from(text).toString("base64"),
  }));
  await work(first?.text ?? "");
  expect((await ci.get(path)).text).toContain(first?.inBase64);
  const before = await ci.stream(path);
  await vi.waitFor(() => expect(before.heard).toContain(first?.inBase64));
  await setDenial("task.read");
  expect((await ci.get("/v1/tasks")).status).toBe(403);
  const { text } = await ci.get(path);
  expect(text).toContain("agent.registered");
  expect(text).not.toContain("task.");
  const stream = await ci.stream(path);
  await work(second?.text ?? "");
  await ci.post("/v1/agents/deregister", { agentId });
  for (const each of [before, stream]) {
    await vi.waitFor(() => expect(each.heard).toContain("agent.died"));
    expect(each.heard).not.toContain(second?.inBase64);
  }
  expect(stream.heard).not.toContain("task.");
  await liftDenial();
});

test("an overview leaves out the kinds of things that its caller is denied", async () => {
  await using viewer = await Person.with(daemon, "look", "viewer");
  const { body } = await ci.post("/v1/agents/register", { card: { name: "seen-agent" } });
  const { agentId } = body["agent"] as { readonly agentId: string };
  await ci.post("/v1/leases/acquire", { taskId: "seen-lease", agentId });
  await ci.post("/v1/elections/campaign", { group: "seen-group", agentId });
  await ci.post("/v1/tasks/create", { type: "seen-task" });
  const look = async () => (await viewer.get("/v1/overview")).body as unknown as Overview;
  const all = await look();
  const told = JSON.stringify(all);
  for (const word of ["agent", "lease", "group", "task"]) expect(told).toContain(`seen-${word}`);
  const denials = [
    ["agent.read", { agents: [], counts: { alive: 0, unreachable: 0 } }],
    ["lease.read", { leases: [], counts: { leases: 0 } }],
    ["election.read", { leaders: [], counts: { leaders: 0 } }],
    ["task.read", { pending: [], claimed: [], counts: { pending: 0, completed: 0 } }],
    ["fleet.read", { fleet: { total: 0, rows: [] } }],
  ] as const;
  for (const [action, blank] of denials) {
    await setDenial(action, "*", "token:look");
    const left = await look();
    expect(left).toMatchObject(blank);
    expect(Object.keys(left)).toEqual(Object.keys(all));
  }
  await liftDenial();
});

test("a denial of one thing holds by whatever name it is called", async () => {
  const op = await Person.with(daemon, "op", "operator");
  const { body } = await ci.post("/v1/agents/register", { card: { name: "meant by name" } });
  const { agentId } = body["agent"] as { readonly agentId: string };
  const created = await ci.post("/v1/tasks/create", { type: "meant" });
  const { id: taskId } = created.body["task"] as { readonly id: string };
  const question = { rule: "test", value: { kind: "text", text: "?", sinceMs: Date.now() } };
  await ci.post("/v1/fleet/reports", {
    alias: "script:prod",
    agentId: "prod-1",
    facts: { name: "the production", liveness: { value: "alive" }, question },
  });
  const { questions } = (await op.get("/v1/questions")).body as {
    readonly questions: readonly { readonly id: string; readonly agentId: string }[];
  };
  const [asked = ""] = questions.flatMap((each) => (each.agentId === "prod-1" ? [each.id] : []));
  const get = (paths: readonly string[]) => paths.map((path) => () => op.get(path));
  const post = (path: string, ids: readonly string[]) =>
    ids.map((id) => () => op.post(path, { id }));
  const rows = ["prod-1", "script:prod", "the%20production"].map((each) => `/v1/fleet/${each}`);
  const denials = [
    ["fleet.dismiss", "agent:prod-1", post("/v1/fleet/dismiss", ["prod-1", "script:prod"])],
    ["question.dismiss", `question:${asked}`, post("/v1/questions/dismiss", [asked, "prod-1"])],
    ["fleet.read", "agent:prod-1", get([...rows, ...rows.map((each) => `${each}/timeline`)])],
    ["task.read", `task:${taskId}`, get([taskId, "meant"].map((each) => `/v1/tasks/${each}`))],
    [
      "agent.read",
      `agent:${agentId}`,
      get([agentId, "meant%20by%20name"].map((each) => `/v1/agents/${each}`)),
    ],
  ] as const;
  for (const [action, resource, calls] of denials) {
    const stream = action === "fleet.read" ? await op.stream("/v1/fleet/script:prod") : undefined;
    await setDenial(action, resource, "token:op");
    for (const call of calls) {
      const { status, text } = await call();
      expect([text, status]).toEqual([
        expect.stringContaining(`${action} ${resource}: denied`),
        403,
      ]);
    }
    if (!stream) continue;
    await expect(op.stream("/v1/fleet/script:prod")).rejects.toThrow("403");
    await vi.waitFor(() => expect(stream.heard).toContain("denied by policy"));
  }
  await liftDenial();
  for (const path of ["/v1/questions/dismiss", "/v1/fleet/dismiss"]) {
    expect((await op.post(path, { id: "script:prod" })).status).toBe(200);
  }
  await op[Symbol.asyncDispose]();
});

test("a watcher of an election is told nothing once it is denied the group", async () => {
  const { watchElection, campaign } = ElectionService.method;
  const { body } = await ci.post("/v1/agents/register", { card: { name: "candidate" } });
  const { agentId } = body["agent"] as { readonly agentId: string };
  const [own, all] = [ci, admin].map((each) => each.watch(watchElection, { group: "watched" }));
  await ci.call(campaign, { group: "watched", agentId });
  await vi.waitFor(() => expect(own?.heard).toContain(agentId));
  await admin.post("/v1/policies/set", {
    id: "group",
    effect: "deny",
    subject: "token:ci",
    action: "election.read",
    resource: "group:watched",
  });
  const told = own?.heard;
  await admin.post("/v1/elections/resign", { group: "watched", agentId });
  await vi.waitFor(() => expect(all?.heard.length).toBeGreaterThan(told?.length ?? 0));
  expect(own?.heard).toBe(told);
  await admin.post("/v1/policies/delete", { id: "group" });
});

test("an ARCP session is told that it may not follow a job any more, and goes on", async () => {
  const [owner, follower] = [await ci.arcp(), await ci.arcp()];
  const submit = () => owner.submit({ agent: "steps", input: {} });
  const [secret, open] = [await submit(), await submit()];
  const [denied, followed] = [
    await follower.subscribe(secret.id),
    await follower.subscribe(open.id),
  ];
  await admin.post("/v1/policies/set", {
    id: "job",
    effect: "deny",
    subject: "token:ci",
    action: "job.read",
    resource: `job:${secret.id}`,
  });
  const code = "PERMISSION_DENIED";
  await expect(denied.ended).resolves.toMatchObject({ status: "error", error: { code } });
  await expect(denied.done).rejects.toThrow('denied by policy "job"');
  await expect(follower.subscribe(secret.id)).rejects.toThrow('denied by policy "job"');
  // The job goes on for the session that submitted it, and so does what else is followed.
  expect(secret.isOver).toBe(false);
  await admin.post("/v1/policies/delete", { id: "job" });
  const again = await follower.subscribe(secret.id);
  for (const job of [secret, open]) await job.cancel();
  for (const job of [secret, open, followed, again]) {
    await expect(job.ended).resolves.toMatchObject({ status: "cancelled" });
  }
});

test("a resumed ARCP session follows only jobs that its caller may read now", async () => {
  const owner = await ci.arcp();
  const job = await owner.submit({ agent: "steps", input: { asks: true } });
  const before = await Person.with(daemon, "helper", "operator");
  const follower = await before.arcp();
  const handle = await follower.subscribe(job.id);
  // It has heard all that the job says.
  for await (const { kind } of handle.events()) if (kind === "status") break;
  const { resumption } = follower;
  if (!resumption) throw new Error("no resumption");
  await admin.post("/v1/tokens/revoke", { name: "helper" });
  await using now = await Person.with(daemon, "helper", "agent");
  await expect(now.arcp({ ...resumption, lastEventSeq: 0 })).rejects.toThrow(/resume/);
  const resumed = await now.arcp(resumption);
  const code = "JOB_NOT_FOUND";
  await expect(resumed.job(job.id).ended).resolves.toMatchObject({ error: { code } });
  await job.cancel();
  await before[Symbol.asyncDispose]();
});
