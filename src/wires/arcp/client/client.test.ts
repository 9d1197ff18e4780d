import { describe, expect, test } from "vitest";
import { quiet } from "../../../../test/support/engine/fixture.ts";
import { MemoryLink } from "../transports/memory.ts";
import { ArcpClient } from "./client.ts";
import {
  J1,
  J2,
  messages,
  outcome,
  scene,
  ScriptedRuntime,
  SESSION,
  submitted,
} from "../../../../test/support/arcp-client/fixture.ts";

describe("the handshake", () => {
  test("the hello follows the text: no SDK is taken for it, and nothing is null", async () => {
    const { runtime, client } = await scene();
    const hello = runtime.last("session.hello");
    expect(hello.id).toMatch(/^hello_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(JSON.stringify(hello)).not.toContain("null");
    expect(hello.payload["auth"]).toEqual({ scheme: "bearer", token: "tok" });
    expect(client.session).toMatchObject({ sessionId: SESSION, runtime: { name: "scripted" } });
  });

  test("an error instead of a welcome is told, and not tried again", async () => {
    const runtimes: ScriptedRuntime[] = [];
    const dial = () => {
      const runtime = new ScriptedRuntime();
      runtimes.push(runtime);
      const error = { code: "UNAUTHENTICATED", message: "bad token", retryable: false };
      runtime.say("session.error", { ...error, details: null }, { session_id: undefined });
      return runtime.link.client;
    };
    const connecting = ArcpClient.connect(dial, { token: "wrong" });
    await expect(connecting).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    expect(runtimes).toHaveLength(1);
    await quiet();
    expect(runtimes[0]?.isClosed).toBe(true);
  });

  test("a runtime that says nothing is given ten seconds", async () => {
    const { clock } = await scene();
    const link = new MemoryLink();
    const connecting = outcome(ArcpClient.connect(link.client, { token: "tok", clock }));
    await clock.advance(10_000);
    expect(await connecting).toBe("DEADLINE_EXCEEDED");
  });
});

describe("which answer is whose", () => {
  async function three() {
    const set = await scene();
    const submits = [1, 2, 3].map((input) => set.client.submit({ agent: "echo", input }));
    await quiet();
    return { ...set, submits, asked: set.runtime.all("job.submit") };
  }

  test("by the id of the request, in whatever order", async () => {
    const { runtime, submits, asked } = await three();
    for (const i of [2, 0, 1]) {
      runtime.say("job.accepted", { job_id: `job_${i}`, request_id: asked[i]?.id });
    }
    const ids = (await Promise.all(submits)).map(({ id }) => id);
    expect(ids).toEqual(["job_0", "job_1", "job_2"]);
  });

  test("else by the trace id, which is another for every submit", async () => {
    const { runtime, submits, asked } = await three();
    for (const i of [1, 2, 0]) {
      const head = { trace_id: asked[i]?.trace_id };
      runtime.say("job.accepted", { job_id: `job_${i}` }, head);
    }
    const ids = (await Promise.all(submits)).map(({ id }) => id);
    expect(ids).toEqual(["job_0", "job_1", "job_2"]);
  });

  test("else by the order; a child that was delegated is nobody's answer", async () => {
    const { runtime, submits } = await three();
    runtime.say("job.accepted", { job_id: "job_child", delegate_id: "d", parent_job_id: J1 });
    for (const i of [0, 1, 2]) runtime.say("job.accepted", { job_id: `job_${i}` });
    const ids = (await Promise.all(submits)).map(({ id }) => id);
    expect(ids).toEqual(["job_0", "job_1", "job_2"]);
  });

  // "A job.error whose job_id is unknown … is the refusal of that submit"
  test("an error of a job that nobody has refuses the submit of its trace", async () => {
    const { runtime, submits, asked } = await three();
    const error = { final_status: "error", code: "AGENT_NOT_AVAILABLE", message: "no such agent" };
    runtime.say("job.error", error, { job_id: "job_none", trace_id: asked[1]?.trace_id });
    runtime.say("job.accepted", { job_id: "job_0", request_id: asked[0]?.id });
    runtime.say("job.accepted", { job_id: "job_2", request_id: asked[2]?.id });
    expect(await Promise.all(submits.map(outcome))).toEqual([
      "done",
      "AGENT_NOT_AVAILABLE",
      "done",
    ]);
  });

  // "do not fail other jobs on session.error unless the socket also closes"
  test("an error of the session fails one request, and no job", async () => {
    const set = await scene();
    const job = await submitted(set);
    const { client, runtime } = set;
    const [first, second] = [client.subscribe(J2), client.submit({ agent: "none" })];
    await quiet();
    const details = { request_id: runtime.last("job.submit").id };
    const refusal = { code: "AGENT_NOT_AVAILABLE", message: "no", retryable: false, details };
    runtime.say("session.error", refusal);
    expect(await outcome(second)).toBe("AGENT_NOT_AVAILABLE");
    runtime.say("session.error", { code: "JOB_NOT_FOUND", message: "no", details: null });
    expect(await outcome(first)).toBe("NOT_FOUND");
    runtime.end(J1, 1);
    expect((await job.done).result).toBe(1);
  });

  test("a cancel is done when the ping behind it is answered, or refused before", async () => {
    const { client, runtime } = await scene();
    const [taken, unknown] = [outcome(client.cancel(J1)), outcome(client.cancel(J2))];
    await quiet();
    const cancel = runtime.all("job.cancel");
    expect(cancel.map(({ job_id, payload }) => [job_id, payload["reason"]])).toEqual([
      [J1, "client.cancel"],
      [J2, "client.cancel"],
    ]);
    const [ping] = runtime.all("session.ping");
    runtime.say("session.pong", { ping_nonce: ping?.payload["nonce"], received_at: "now" });
    runtime.say("session.error", { code: "JOB_NOT_FOUND", message: "no" });
    expect([await taken, await unknown]).toEqual(["done", "NOT_FOUND"]);
  });

  test("all pages of a list are read, as far as the caller reads on", async () => {
    const { client, runtime } = await scene();
    const listing = client.listJobs({ pageSize: 1, status: ["running"] });
    for (const [jobId, next] of [
      [J1, "c1"],
      [J2, null],
    ] as const) {
      const entry = listing.next();
      await quiet();
      const { id } = runtime.last("session.list_jobs");
      const job = { job_id: jobId, agent: "echo", status: "running", submitted_at: "then" };
      runtime.say("session.jobs", { request_id: id, jobs: [job], next_cursor: next });
      expect((await entry).value).toMatchObject({ jobId, createdAt: "then" });
    }
    expect((await listing.next()).done).toBe(true);
    const asked = runtime.all("session.list_jobs").map(({ payload }) => payload["cursor"]);
    expect(asked).toEqual([undefined, "c1"]);
  });
});

describe("time", () => {
  test("a request without an answer fails after ten seconds, or its own time", async () => {
    const { client, clock } = await scene();
    const [usual, short] = [
      outcome(client.submit({ agent: "echo" })),
      outcome(client.submit({ agent: "echo", timeoutMs: 50 })),
    ];
    await clock.advance(50);
    expect(await short).toBe("DEADLINE_EXCEEDED");
    await clock.advance(9_950);
    expect(await usual).toBe("DEADLINE_EXCEEDED");
  });

  test("a request is given up when its signal aborts", async () => {
    const { client } = await scene();
    const abort = new AbortController();
    const asked = outcome(client.submit({ agent: "echo", signal: abort.signal }));
    await quiet();
    abort.abort();
    expect(await asked).toBe("CANCELLED");
  });

  test("pings are answered, and two silent intervals are a lost connection", async () => {
    const { runtime, runtimes, clock, states } = await scene({}, { heartbeat_interval_sec: 30 });
    await clock.advance(40_000);
    runtime.say("session.ping", { nonce: "p-1", sent_at: "now" });
    await quiet();
    expect(runtime.last("session.pong").payload["ping_nonce"]).toBe("p-1");
    await clock.advance(59_999);
    expect(states).toEqual(["live"]);
    await clock.advance(1);
    expect(states).toEqual(["live", "lost"]);
    expect(runtimes).toHaveLength(2);
  });

  test("events are acknowledged after 32 or 250 ms, as far as they are read", async () => {
    const set = await scene();
    const job = await submitted(set);
    const { runtime, clock } = set;
    const acks = () => runtime.all("session.ack").map((ack) => ack.payload["last_processed_seq"]);
    for (let seq = 1; seq <= 32; seq += 1) runtime.event(J1, seq);
    await quiet();
    expect(acks()).toEqual([32]);
    runtime.event(J1, 33);
    await clock.advance(249);
    expect(acks()).toEqual([32]);
    await clock.advance(1);
    expect(acks()).toEqual([32, 33]);
    const reader = job.events();
    for (let seq = 1; seq <= 33; seq += 1) await reader.next();
    for (let seq = 34; seq <= 100; seq += 1) runtime.event(J1, seq);
    await clock.advance(250);
    expect(acks()).toEqual([32, 33]);
    await reader.next();
    await reader.next();
    await clock.advance(250);
    expect(acks()).toEqual([32, 33, 35]);
  });
});

describe("the end", () => {
  test("closing says goodbye, and fails what waits; twice is once", async () => {
    const set = await scene();
    const job = await submitted(set);
    const waiting = outcome(set.client.submit({ agent: "echo" }));
    await quiet();
    await set.client.close();
    await set.client.close();
    await quiet();
    expect(set.runtime.all("session.bye").map(({ payload }) => payload["reason"])).toEqual([
      "client.close",
    ]);
    expect(await waiting).toBe("CANCELLED");
    expect(await outcome(job.done)).toBe("CANCELLED");
    expect(await messages(job)).toEqual([]);
    expect(await outcome(set.client.submit({ agent: "echo" }))).toBe("CANCELLED");
  });

  test("another client goes on with the session, and finds its jobs", async () => {
    const resume = { sessionId: SESSION, resumeToken: "rt_1", lastEventSeq: 7 };
    const set = await scene({ resume });
    set.runtime.event(J1, 8);
    set.runtime.end(J1, 9);
    await quiet();
    expect(set.runtime.last("session.hello").payload["resume"]).toMatchObject({
      last_event_seq: 7,
    });
    expect(set.client.resumption?.lastEventSeq).toBe(9);
    expect(set.client.jobs.map(({ id }) => id)).toEqual([J1]);
    const job = set.client.job(J1);
    expect(await messages(job)).toEqual(["event-8"]);
    expect((await job.done).result).toBe(1);
    expect(set.client.jobs).toEqual([]);
  });
});
