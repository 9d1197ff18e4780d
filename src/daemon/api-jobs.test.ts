import { afterEach, expect, test, vi } from "vitest";
import type { JobSummary } from "../core/job-listing.ts";
import type { Job } from "../core/jobs.ts";
import { OUTPOST } from "../core/limits.ts";
import { START_MS } from "../../test/support/engine/fixture.ts";
import { openApi, type Api } from "../../test/support/daemon/api.ts";
import { say } from "../../test/support/daemon/fixture.ts";
import { listen } from "../../test/support/daemon/stream.ts";
import { LIBRARY } from "../core/by.ts";

const apis: Api[] = [];

afterEach(async () => {
  for (const api of apis.splice(0)) await api.close();
});

async function open(...jobs: readonly Job[]): Promise<Api> {
  const api = await openApi();
  apis.push(api);
  for (const each of jobs) await api.engine.execute({ type: "job.import", job: each }, LIBRARY);
  return api;
}

function job(id: string, fields: Partial<Job> = {}): Job {
  return {
    id,
    agent: "echo",
    principal: "local",
    node: "solo",
    parent: "",
    status: "pending",
    submittedAtMs: START_MS,
    startedAtMs: 0,
    endedAtMs: 0,
    restarts: 0,
    code: "",
    reason: "",
    ...fields,
  };
}

const DONE = { status: "success", startedAtMs: START_MS, endedAtMs: START_MS } as const;

test("jobs are listed, some of them, and page by page", async () => {
  const api = await open(
    job("job_1"),
    job("job_2", { agent: "echo@1.0.0", ...DONE }),
    job("job_3", { agent: "other", principal: "alice" }),
  );
  const ids = async (query: string) => {
    const { body } = await api.get(`/v1/jobs${query}`);
    return (body["jobs"] as Job[]).map(({ id }) => id);
  };
  expect(await ids("")).toEqual(["job_1", "job_2", "job_3"]);
  expect(await ids("?agent=echo")).toEqual(["job_1", "job_2"]);
  expect(await ids("?agent=echo@1.0.0&status=success")).toEqual(["job_2"]);
  expect(await ids("?principal=alice")).toEqual(["job_3"]);
  const { body } = await api.get("/v1/jobs?limit=2");
  expect(body).toMatchObject({ total: 3, sequence: 4 });
  expect(await ids(`?limit=2&cursor=${String(body["cursor"])}`)).toEqual(["job_3"]);
  expect(await api.get("/v1/jobs?status=odd")).toMatchObject({ status: 400 });
});

test("20,000 jobs that ended are listed page by page, each once", async () => {
  const names = Array.from({ length: 20_000 }, (_, i) => `job_${String(i).padStart(5, "0")}`);
  const api = await openApi();
  apis.push(api);
  await Promise.all(
    names.map((id) => api.engine.execute({ type: "job.import", job: job(id, DONE) }, LIBRARY)),
  );
  const listed: string[] = [];
  let cursor: string | undefined = "";
  let pages = 0;
  const startedAt = performance.now();
  do {
    const { body } = await api.get(`/v1/jobs?status=success&limit=1000${cursor}`);
    expect(body).toMatchObject({ total: 20_000 });
    listed.push(...(body["jobs"] as Job[]).map(({ id }) => id));
    const next = body["cursor"] as string | undefined;
    cursor = next && `&cursor=${next}`;
    pages += 1;
  } while (cursor);
  expect(listed).toEqual(names);
  expect(pages).toBe(20);
  expect(performance.now() - startedAt).toBeLessThan(10_000);
}, 60_000);

test("a job that ran at a moment is listed as running then, and as ended now", async () => {
  const api = await open(job("job_1"), job("job_2", { status: "running", startedAtMs: START_MS }));
  const thenMs = api.engine.nowMs;
  await api.clock.advance(60_000);
  await api.engine.execute({ type: "job.import", job: job("job_2", DONE) }, LIBRARY);
  await api.engine.execute({ type: "job.import", job: job("job_3") }, LIBRARY);
  const statuses = async (query: string) => {
    const { body } = await api.get(`/v1/jobs${query}`);
    return (body["jobs"] as Job[]).map(({ id, status }) => `${id} ${status}`);
  };
  expect(await statuses("")).toEqual(["job_1 pending", "job_2 success", "job_3 pending"]);
  expect(await statuses(`?at=${thenMs}`)).toEqual(["job_1 pending", "job_2 running"]);
  expect(await statuses(`?at=${thenMs}&status=running`)).toEqual(["job_2 running"]);
  const { body } = await api.get(`/v1/jobs?at=${thenMs}&limit=1`);
  expect(body).toMatchObject({ atMs: thenMs, total: 2, jobs: [{ id: "job_1" }] });
  expect(await statuses(`?at=${thenMs}&limit=1&cursor=${String(body["cursor"])}`)).toEqual([
    "job_2 running",
  ]);
  expect(await api.get("/v1/jobs?at=soon")).toMatchObject({ status: 400 });
});

test("one is told as it is, and live until it is over", async () => {
  const api = await open(job("job_1"));
  expect(await api.get("/v1/jobs/job_1")).toMatchObject({
    status: 200,
    body: { job: { id: "job_1", status: "pending" } },
  });
  expect(await api.get("/v1/jobs/job_9")).toMatchObject({
    status: 404,
    body: { error: { message: "no job job_9" } },
  });
  const { port } = api.opened;
  const live = say(
    port,
    `GET /v1/jobs/job_1 HTTP/1.1\r\nHost: localhost:${port}\r\nAccept: text/event-stream\r\n\r\n`,
  );
  await vi.waitFor(() => expect(live.heard).toContain('"status":"pending"'));
  const running = job("job_1", { status: "running", startedAtMs: START_MS });
  for (const each of [job("job_2"), running]) {
    await api.engine.execute({ type: "job.import", job: each }, LIBRARY);
  }
  await vi.waitFor(() => expect(live.heard).toContain('"status":"running"'));
  await api.engine.execute({ type: "job.import", job: job("job_1", DONE) }, LIBRARY);
  await vi.waitFor(() => expect(live.heard).toContain('"status":"success"'));
  expect(live.heard.match(/^event: job$/gm)).toHaveLength(3);
  live.socket.destroy();
});

test("the stream of a job ends with it, and a browser that comes back stays away", async () => {
  const api = await open(job("job_1"));
  const { port } = api.opened;
  const live = await listen(port, "/v1/jobs/job_1");
  await vi.waitFor(() => expect(live.messages).toHaveLength(1));
  await api.engine.execute({ type: "job.import", job: job("job_1", DONE) }, LIBRARY);
  await vi.waitFor(() => expect(live.isEnded).toBe(true));
  expect(live.messages.map(({ event }) => event)).toEqual(["job", "job", "over"]);
  const again = await listen(port, "/v1/jobs/job_1", {
    "last-event-id": live.messages.at(-1)?.id,
  });
  expect(again.response.statusCode).toBe(204);
  const missed = await listen(port, "/v1/jobs/job_1", { "last-event-id": live.messages[0]?.id });
  await vi.waitFor(() => expect(missed.isEnded).toBe(true));
  expect(missed.messages.map(({ event }) => event)).toEqual(["job", "over"]);
});

test("a stream that ends because the daemon does says so", async () => {
  const api = await open(job("job_1"));
  const live = await listen(api.opened.port, "/v1/jobs/job_1");
  await vi.waitFor(() => expect(live.messages).toHaveLength(1));
  await api.engine.close();
  await vi.waitFor(() => expect(live.isEnded).toBe(true));
  expect(live.messages.at(-1)).toMatchObject({
    event: "error",
    data: { error: { code: "UNAVAILABLE", message: "this node is closing" } },
  });
});

test("a job of a machine is told live as well, and that the machine fell silent", async () => {
  const api = await open();
  const { engine, clock } = api;
  const host = "box";
  const shared = { share: "all", accept: "nothing" } as const;
  const facts = { instance: "1", machine: "m", version: "1", ...shared };
  const tell = async (fields: Partial<Job>) => {
    const join = { type: "outpost.join", host, facts, clockMs: engine.nowMs } as const;
    const { session, cursor } = await engine.execute(join, LIBRARY);
    const { node: _, session: __, ...sent } = job("job_1", fields);
    const told = { reports: [], gone: [], jobs: [sent], jobsGone: [] };
    const step = { from: cursor, to: `${cursor}.`, ...told };
    await engine.execute({ type: "outpost.take", host, session, ...step }, LIBRARY);
  };
  await tell({ status: "running" });
  const live = await listen(api.opened.port, "/v1/jobs/job_1@box");
  expect(live.response.statusCode).toBe(200);
  await vi.waitFor(() => expect(live.messages).toHaveLength(1));
  await clock.advance(OUTPOST.silentMs + 1_000);
  await vi.waitFor(() => expect(live.messages).toHaveLength(2));
  await tell(DONE);
  await vi.waitFor(() => expect(live.isEnded).toBe(true));
  const [running, silent] = live.messages.map(({ data }) => data["job"] as JobSummary);
  expect(running).toMatchObject({ id: "job_1@box", host, status: "running", silentSinceMs: 0 });
  expect(silent?.silentSinceMs).toBeGreaterThan(0);
  const [ended, over] = live.messages.slice(-2);
  expect(ended?.data["job"]).toMatchObject({ status: "success", silentSinceMs: 0 });
  expect(over?.event).toBe("over");
});
