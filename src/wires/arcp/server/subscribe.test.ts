/** §2.7, §2.15, §4.3, §4.6: following jobs, finding them, and submitting the same twice. */
import { expect, test } from "vitest";
import { quiet } from "../../../../test/support/engine/fixture.ts";
import type { JobContext } from "../../../jobs/context.ts";
import type { ArcpRuntime } from "./runtime.ts";
import { play, type Frame, type TestPeer } from "../../../../test/support/arcp/fixture.ts";

const puppets: { job: JobContext; end: (value: unknown) => void }[] = [];

function agents(runtime: ArcpRuntime): void {
  puppets.length = 0;
  runtime.registerAgent("echo", async (input, job) => {
    await job.log("info", "echo started");
    return input;
  });
  runtime.registerAgent("puppet", (_, job) => {
    return new Promise((end) => puppets.push({ job, end }));
  });
}

async function say(...texts: readonly string[]): Promise<void> {
  for (const text of texts) await puppets[0]?.job.log("info", text);
  await quiet();
}

/** The frames of one job in a stream, shortened. */
function toldOf(peer: TestPeer, jobId: string | undefined): readonly unknown[] {
  return peer.stream
    .filter(({ job_id }) => job_id === jobId)
    .map(({ payload }) => payload["final_status"] ?? payload.body.message);
}

function typesOf(frames: readonly Frame[]): readonly string[] {
  return frames.map(({ type }) => type);
}

test('"subscribed, history, live": in this order, in the numbers of the subscriber', async () => {
  const { open } = await play({ agents });
  const [owner, other] = [await open(), await open()];
  const { job_id } = await owner.submit("puppet");
  await say("one", "two");
  const id = other.send("job.subscribe", { job_id, history: true });
  await quiet();
  await say("three");
  puppets[0]?.end("done");
  await quiet();
  expect(typesOf(other.frames).slice(1)).toEqual([
    "job.subscribed",
    "job.event",
    "job.event",
    "job.event",
    "job.result",
  ]);
  expect(other.last("job.subscribed").payload).toMatchObject({
    request_id: id,
    current_status: "running",
    agent: "puppet",
    parent_job_id: null,
    subscribed_from: 0,
    replayed: true,
  });
  expect(toldOf(other, job_id)).toEqual(["one", "two", "three", "success"]);
  expect(other.stream.map(({ event_seq }) => event_seq)).toEqual([1, 2, 3, 4]);
  expect(toldOf(owner, job_id)).toEqual(["one", "two", "three", "success"]);
});

test("no event is lost or repeated where history meets what is said now", async () => {
  const { open } = await play({ agents });
  const [owner, other] = [await open(), await open()];
  const { job_id } = await owner.submit("puppet");
  const said: string[] = [];
  for (let i = 0; i < 40; i += 1) {
    said.push(`n${i}`);
    void puppets[0]?.job.log("info", `n${i}`);
    if (i === 20) other.send("job.subscribe", { job_id, history: true });
    if (i % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await quiet();
  expect(toldOf(other, job_id)).toEqual(said);
});

test('"for py profiles, start history a few ms later"', async () => {
  const { open, clock } = await play({ agents });
  const [owner, other] = [await open(), await open({ profile: "py" })];
  const { job_id } = await owner.submit("echo");
  await quiet();
  other.send("job.subscribe", { job_id, history: true });
  await quiet();
  const [subscribed, ping] = other.frames.slice(-2);
  expect(subscribed?.type).toBe("job.subscribed");
  // However busy its machine is: who answers this has seen the answer before it.
  const ping_nonce: unknown = ping?.payload["nonce"];
  other.send("session.pong", { ping_nonce, received_at: "now" });
  other.send("session.pong", { ping_nonce, received_at: "now" });
  await quiet();
  expect(toldOf(other, job_id)).toEqual(["echo started", "success"]);
  const silent = await open({ profile: "py" });
  silent.send("job.subscribe", { job_id, history: true });
  await clock.advance(999);
  expect(silent.stream).toEqual([]);
  await clock.advance(1);
  expect(toldOf(silent, job_id)).toEqual(["echo started", "success"]);
});

test('"Finished jobs … keep for a bounded time": tailed, listed, and then forgotten', async () => {
  const { open, clock } = await play({ agents });
  const [owner, other] = [await open(), await open()];
  const { job_id } = await owner.submit("echo", { input: 7 });
  await quiet();
  other.send("job.subscribe", { job_id, history: true });
  await quiet();
  expect(toldOf(other, job_id)).toEqual(["echo started", "success"]);
  await clock.advance(24 * 3_600_000 + 60_000);
  other.send("job.subscribe", { job_id, history: true });
  other.send("session.list_jobs", {});
  await quiet();
  expect(other.last("session.error").payload).toMatchObject({ code: "JOB_NOT_FOUND" });
  expect(other.last("session.jobs").payload["jobs"]).toEqual([]);
});

test('"replay covers owner-session seq > from_event_seq"', async () => {
  const { open } = await play({ agents });
  const [owner, other] = [await open(), await open()];
  const { job_id } = await owner.submit("puppet");
  await say("one", "two", "three");
  other.send("job.subscribe", { job_id, history: true, from_event_seq: 2 });
  await quiet();
  expect(toldOf(other, job_id)).toEqual(["three"]);
});

test("history is that of one job, though others were told of in between", async () => {
  const { open } = await play({ agents });
  const [owner, other] = [await open(), await open()];
  const first = await owner.submit("puppet");
  for (let i = 0; i < 60; i += 1) {
    await say(`n${i}`);
    await owner.submit("echo");
    await quiet();
  }
  other.send("job.subscribe", { job_id: first.job_id, history: true });
  await quiet();
  expect(toldOf(other, first.job_id)).toEqual(Array.from({ length: 60 }, (_, i) => `n${i}`));
  expect(new Set(other.stream.map(({ job_id }) => job_id))).toEqual(new Set([first.job_id]));
});

test("self-subscription repeats nothing; of a finished job it tells all once more", async () => {
  const { open } = await play({ agents });
  const peer = await open();
  const { job_id } = await peer.submit("puppet");
  await say("one");
  peer.send("job.subscribe", { job_id, history: true });
  await say("two");
  puppets[0]?.end("done");
  await quiet();
  expect(peer.last("job.subscribed").payload["replayed"]).toBe(false);
  expect(toldOf(peer, job_id)).toEqual(["one", "two", "success"]);
  peer.send("job.subscribe", { job_id, history: true });
  await quiet();
  expect(toldOf(peer, job_id).slice(3)).toEqual(["one", "two", "success"]);
  const other = await open();
  other.send("job.subscribe", { job_id, history: true });
  await quiet();
  expect(toldOf(other, job_id)).toEqual(["one", "two", "success"]);
});

test('"unsubscribe: no reply, unknown job is a no-op"', async () => {
  const { open } = await play({ agents });
  const [owner, other] = [await open(), await open()];
  const { job_id } = await owner.submit("puppet");
  other.send("job.subscribe", { job_id });
  await quiet();
  await say("heard");
  other.send("job.unsubscribe", { job_id });
  other.send("job.unsubscribe", { job_id: "job_unknown" });
  await say("unheard");
  expect(toldOf(other, job_id)).toEqual(["heard"]);
  expect(other.of("session.error")).toEqual([]);
});

test("a cancelled job of a py owner is told to a ts subscriber in its own words", async () => {
  const { open } = await play({ agents });
  const owner = await open({ profile: "py" });
  const { job_id } = await owner.submit("puppet");
  owner.send("job.cancel", { reason: "enough" }, { job_id });
  puppets[0]?.end(undefined);
  await quiet();
  expect(owner.stream.at(-1)?.type).toBe("job.result");
  const other = await open({ profile: "ts" });
  other.send("job.subscribe", { job_id, history: true });
  await quiet();
  expect(other.stream).toMatchObject([
    { type: "job.error", payload: { final_status: "cancelled", code: "CANCELLED" } },
  ]);
});

test("who may follow the jobs of others is for the authorizer to say", async () => {
  const authorizer = { maySee: (principal: string) => principal === "bob" };
  const { open } = await play({ agents, authorizer });
  const [owner, bob] = [await open(), await open({ token: "bob-token" })];
  const { job_id } = await owner.submit("echo");
  await quiet();
  bob.send("job.subscribe", { job_id, history: true });
  await quiet();
  expect(toldOf(bob, job_id)).toEqual(["echo started", "success"]);
  bob.send("job.cancel", {}, { job_id });
  await quiet();
  expect(bob.last("session.error").payload["code"]).toBe("JOB_NOT_FOUND");
});

test("pages neither repeat nor hide a job, and an odd cursor is refused", async () => {
  const { open } = await play({ agents });
  const peer = await open();
  const ids: unknown[] = [];
  for (let i = 0; i < 7; i += 1) ids.push((await peer.submit("echo")).job_id);
  const listed: unknown[] = [];
  let cursor: unknown = null;
  do {
    peer.send("session.list_jobs", { limit: 3, cursor });
    await quiet();
    const { payload } = peer.last("session.jobs");
    for (const entry of payload.jobs) listed.push(entry["job_id"]);
    cursor = payload["next_cursor"];
  } while (cursor !== null);
  expect(listed).toEqual(ids);
  peer.send("session.list_jobs", { cursor: "1" });
  await quiet();
  expect(peer.last("session.error").payload["code"]).toBe("INVALID_REQUEST");
});

test("an entry of the list has what each client needs, and no credentials", async () => {
  const { open, clock } = await play({ agents });
  const peer = await open();
  const lease_request = { "fs.read": ["/data/**"] };
  await peer.submit("echo", { lease_request });
  await clock.advance(1000);
  await peer.submit("puppet");
  peer.send("session.list_jobs", { filter: { agent: "echo", status: ["success"] } });
  await quiet();
  const [entry, ...rest] = peer.last("session.jobs").payload["jobs"];
  expect(rest).toEqual([]);
  expect(entry).toMatchObject({
    agent: "echo",
    status: "success",
    lease: lease_request,
    parent_job_id: null,
    last_event_seq: 2,
    submitted_at: entry?.created_at,
  });
  expect(entry).not.toHaveProperty("credentials");
  peer.send("session.list_jobs", { filter: { created_after: entry?.created_at } });
  await quiet();
  expect(peer.last("session.jobs").payload["jobs"]).toHaveLength(1);
});

test('"same parameters ⇒ same job": accepted anew, with its end, for 24 h', async () => {
  const { open, clock } = await play({ agents });
  const peer = await open();
  const order = { input: { b: 1, a: [2] }, idempotency_key: "k" };
  const first = await peer.submit("echo", order);
  await quiet();
  const same = { input: { a: [2], b: 1 }, lease_request: {}, idempotency_key: "k" };
  const again = await peer.submit("echo", same);
  await quiet();
  expect(again.job_id).toBe(first.job_id);
  expect(again.payload).toEqual({ ...first.payload, request_id: again.payload["request_id"] });
  expect(again.id).not.toBe(first.id);
  expect(peer.of("job.result")).toHaveLength(2);
  expect(peer.of("job.event")).toHaveLength(1);
  const conflict = await peer.submit("echo", { ...order, input: 2 });
  expect(conflict).toMatchObject({ type: "session.error", payload: { code: "DUPLICATE_KEY" } });
  await clock.advance(24 * 3_600_000 + 60_000);
  expect((await peer.submit("echo", { ...order, input: 2 })).type).toBe("job.accepted");
});

test('"else attach the caller to the live stream"; a key belongs to its principal', async () => {
  const { open } = await play({ agents });
  const [one, two] = [await open(), await open()];
  const bob = await open({ token: "bob-token" });
  const first = await one.submit("puppet", { idempotency_key: "k" });
  const again = await two.submit("puppet", { idempotency_key: "k" });
  expect(again.job_id).toBe(first.job_id);
  expect((await bob.submit("puppet", { idempotency_key: "k" })).job_id).not.toBe(first.job_id);
  await say("to both");
  puppets[0]?.end("done");
  await quiet();
  for (const peer of [one, two]) {
    expect(toldOf(peer, first.job_id)).toEqual(["to both", "success"]);
  }
});

test('"job.error with a fresh job id": a conflict does not touch the live job', async () => {
  const { open } = await play({ agents });
  const peer = await open({ profile: "ts" });
  const { job_id } = await peer.submit("puppet", { idempotency_key: "k" });
  peer.send("job.submit", { agent: "puppet", input: 1, idempotency_key: "k" });
  await quiet();
  const refusal = peer.frames.at(-1);
  expect(refusal).toMatchObject({ type: "job.error", payload: { code: "DUPLICATE_KEY" } });
  expect(refusal?.job_id).not.toBe(job_id);
});
