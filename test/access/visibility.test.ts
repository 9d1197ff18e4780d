/**
 * Two agents with tokens of their own on one daemon, at its real doors: neither sees, follows,
 * resumes nor cancels what is the other's, by any wire; an operator sees all of it.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { WatchHub } from "../../src/engine/watch-hub.ts";
import { startHosting, type HostingDaemon } from "./daemon.ts";
import {
  RegistryService,
  TaskService,
} from "../../src/wires/keeper/gen/agentkeeper/v1/agentkeeper_pb.ts";
import { Person } from "./person.ts";

let daemon: HostingDaemon;
let ann: Person;
let bob: Person;
let operator: Person;

/** Every text of ann's has this word in it. */
const MARK = "anns-secret";
let taskId: string;

beforeAll(async () => {
  daemon = await startHosting();
  [ann, bob, operator] = await Promise.all([
    Person.with(daemon, "ann", "agent"),
    Person.with(daemon, "bob", "agent"),
    Person.with(daemon, "op", "operator"),
  ]);
  const created = await ann.post("/v1/tasks/create", { type: MARK, inputText: MARK });
  taskId = (created.body["task"] as { readonly id: string }).id;
  await ann.post("/v1/fleet/reports", {
    alias: `script:${MARK}`,
    agentId: `row-${MARK}`,
    links: [],
    facts: {
      name: MARK,
      liveness: { value: "alive", rule: "test" },
      question: {
        rule: "test",
        value: { kind: "text", text: `${MARK}?`, sinceMs: Date.now() },
      },
    },
  });
});

afterAll(async () => {
  for (const person of [ann, bob, operator]) await person[Symbol.asyncDispose]();
  await daemon.close();
});

const READS = [
  "/v1/fleet?all=true",
  `/v1/fleet/row-${MARK}`,
  `/v1/fleet/row-${MARK}/timeline`,
  "/v1/questions",
  "/v1/tasks",
  "/v1/jobs",
] as const;

describe("over HTTP", () => {
  test.each([...READS, () => `/v1/tasks/${taskId}`])("%s is each caller's own", async (path) => {
    const asked = typeof path === "function" ? path() : path;
    const [theirs, seen] = [await bob.get(asked), await operator.get(asked)];
    expect(theirs.text.replaceAll(`row-${MARK}`, "")).not.toContain(MARK);
    if (asked !== "/v1/jobs") {
      expect(seen.text).toContain(MARK);
      expect((await ann.get(asked)).text).toContain(MARK);
    }
  });

  test("counts tell nothing of others", async () => {
    expect((await bob.get("/v1/tasks")).body).toMatchObject({ total: 0 });
    expect((await bob.get("/v1/questions")).body).toMatchObject({ total: 0 });
    const { counts } = (await bob.get("/v1/fleet")).body as { counts: Record<string, number> };
    expect(Object.values(counts).reduce((sum, each) => sum + each, 0)).toBe(0);
  });

  test("the past is each caller's own", async () => {
    const at = encodeURIComponent(new Date().toISOString());
    for (const noun of ["fleet", "questions", "jobs"]) {
      expect((await bob.get(`/v1/${noun}?at=${at}`)).text).not.toContain(MARK);
    }
    expect((await ann.get(`/v1/fleet?at=${at}`)).text).toContain(MARK);
  });

  test("a task of another can be claimed by its queue alone, and then is seen", async () => {
    expect((await bob.post("/v1/tasks/cancel", { taskId })).status).not.toBe(200);
    const { body } = await ann.get(`/v1/tasks/${taskId}`);
    expect(body).toMatchObject({ task: { status: "pending" } });
  });
});

test("an overview tells each caller only of what it may read about", async () => {
  await using viewer = await Person.with(daemon, "view", "viewer");
  expect((await viewer.get("/v1/tokens")).status).toBe(403);
  const topicsFor = async (person: Person) => {
    const { events } = (await person.get("/v1/overview")).body as { events: { topic: string }[] };
    return events.map(({ topic }) => topic);
  };
  const [theirs, all] = [await topicsFor(viewer), await topicsFor(operator)];
  expect(all).toEqual(expect.arrayContaining(["token.created", "task.created"]));
  expect(theirs).toContain("task.created");
  expect(theirs).toEqual(all.filter((topic) => !/^(?:token|request)\./.test(topic)));
});

describe("over gRPC", () => {
  test("tasks are each caller's own", async () => {
    const { getTask, listTasks } = TaskService.method;
    await expect(bob.call(getTask, { taskId })).rejects.toMatchObject({ code: 5 });
    expect((await bob.call(listTasks, {})).tasks).toEqual([]);
    expect((await ann.call(listTasks, {})).tasks).toHaveLength(1);
    expect((await operator.call(getTask, { taskId })).task?.type).toBe(MARK);
  });

  test("a watch tells each caller its own", async () => {
    const { watch } = RegistryService.method;
    const [own, theirs, all] = [ann, bob, operator].map((each) => each.watch(watch, {}));
    await bob.post("/v1/tasks/create", { type: "bobs-watched" });
    await vi.waitFor(() => {
      expect(own?.heard).toContain(taskId);
      expect(theirs?.heard).toContain("bobs-watched");
      expect(all?.heard).toMatch(new RegExp(`${taskId}.*bobs-watched`, "s"));
    });
    expect(theirs?.heard).not.toMatch(new RegExp(`${taskId}|${MARK}`));
    expect(own?.heard).not.toContain("bobs-watched");
  });

  test("agents of the registry are found by everybody: that is what it is for", async () => {
    const { register, find } = RegistryService.method;
    await ann.call(register, { card: { name: "helper", version: "1" } });
    expect((await bob.call(find, {})).agents).toHaveLength(1);
  });
});

describe("live", () => {
  test("streams and watches tell each caller its own", async () => {
    const paths = ["/v1/events?from=0", "/v1/fleet", "/v1/questions"];
    const theirs = await Promise.all(paths.map((path) => bob.stream(path)));
    const own = await Promise.all(paths.map((path) => ann.stream(path)));
    await ann.post("/v1/tasks/create", { type: `${MARK}-again` });
    await bob.post("/v1/tasks/create", { type: "bobs" });
    await vi.waitFor(() => {
      for (const { heard } of own) expect(heard).toContain(MARK);
      expect(own[0]?.heard).toContain(`${MARK}-again`);
      expect(theirs[0]?.heard).toContain("bobs");
    });
    for (const { heard } of theirs)
      expect(heard).not.toMatch(/anns-secret|"principal":"token:ann"/);
    expect(own[0]?.heard).not.toContain("bobs");
    expect(own[0]?.heard).not.toContain("token.created");
  });

  test("the watcher behind a stream is its subscriber's, and counts to its share", async () => {
    const watched = vi.spyOn(WatchHub.prototype, "watch");
    const own = await ann.arcp();
    const job = await own.submit({ agent: "steps", input: {} });
    const live = ["/v1/questions", "/v1/directory/events", "/v1/events", `/v1/jobs/${job.id}`];
    for (const path of live) await ann.stream(path);
    const owners = watched.mock.calls.map(([{ by }]) => by?.principal.name);
    expect(owners).toEqual(live.map(() => "token:ann"));
    watched.mockRestore();
    await own.cancel(job.id);
  });
});

describe("over ARCP", () => {
  test("jobs and sessions are their principal's alone", async () => {
    const [own, theirs] = await Promise.all([ann.arcp(), bob.arcp()]);
    const job = await own.submit({ agent: "steps", input: { mark: MARK } });
    const { id } = job;
    for await (const { jobId } of theirs.listJobs()) expect(jobId).not.toBe(id);
    await expect(theirs.subscribe(id)).rejects.toThrow(/no job/);
    await theirs.cancel(id).catch(() => undefined);
    expect((await bob.get("/v1/jobs")).body).toMatchObject({ total: 0, jobs: [] });
    expect((await bob.get(`/v1/jobs/${id}`)).status).toBe(404);
    await expect(bob.stream(`/v1/jobs/${id}`)).rejects.toThrow(/404/);
    expect((await bob.get("/v1/fleet?all=true")).text).not.toContain(id);
    for (const person of [ann, operator]) {
      const { body } = await person.get(`/v1/jobs/${id}`);
      expect(body).toMatchObject({ job: { status: "running", principal: "token:ann" } });
      expect((await person.get("/v1/fleet?all=true")).text).toContain(id);
    }
    await own.cancel(id);
  });

  test("an operator lists, follows and cancels the jobs of all", async () => {
    const [own, all] = await Promise.all([ann.arcp(), operator.arcp()]);
    const job = await own.submit({ agent: "steps", input: {} });
    const listed: string[] = [];
    for await (const { jobId } of all.listJobs()) listed.push(jobId);
    expect(listed).toContain(job.id);
    const followed = await all.subscribe(job.id);
    await all.cancel(job.id);
    expect(await followed.done).toMatchObject({ status: "cancelled" });
  });

  test("nobody resumes the session of another", async () => {
    const own = await ann.arcp();
    const resume = own.resumption;
    if (!resume) throw new Error("the session cannot be resumed");
    await expect(bob.arcp(resume)).rejects.toThrow(/resume/i);
    await expect(operator.arcp(resume)).rejects.toThrow(/resume/i);
    await own.close();
    const again = await ann.arcp(resume);
    expect(again.resumption?.sessionId).toBe(resume.sessionId);
  });
});

describe("over MCP", () => {
  test("tools and resources show each caller its own", async () => {
    const [theirs, own] = await Promise.all([bob.mcp(), ann.mcp()]);
    for (const name of ["list_agents", "who_needs_me"]) {
      expect(JSON.stringify(await theirs.callTool({ name, arguments: {} }))).not.toContain(MARK);
      expect(JSON.stringify(await own.callTool({ name, arguments: {} }))).toContain(MARK);
    }
    const uri = "rollcall://fleet";
    expect(JSON.stringify(await theirs.readResource({ uri }))).not.toContain(MARK);
    expect(JSON.stringify(await own.readResource({ uri }))).toContain(MARK);
  });
});
