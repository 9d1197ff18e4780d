/** Rare states of a ledger: trimmed sessions, lost jobs, half a history. */
import { expect, test } from "vitest";
import { decodeEntry, decodeSessionEntry } from "../../../core/job-stream.ts";
import { rules } from "../../../core/rules.ts";
import { encode } from "../../../core/events.ts";
import { load } from "../../../engine/replica.ts";
import { memoryStore } from "../../../log/memory/store.ts";
import type { Store } from "../../../log/store.ts";
import { play } from "../../../../test/support/arcp/fixture.ts";
import { contentsOf } from "../../../../test/support/arcp/old-file.ts";
import { quiet } from "../../../../test/support/engine/fixture.ts";
import { frameText } from "../codec/encode.ts";
import { tokenDigest } from "../server/verifiers.ts";
import { importLedger } from "./import.ts";
import { appendAt } from "../../../../test/support/log/append.ts";

const AT = "2026-01-02T03:04:05.678Z";
const AT_MS = Date.parse(AT);

function session(id: string, more: object = {}): object {
  const terms = { profile: "spec", features: [], client: "test 1", token: `hash of ${id}` };
  return { t: "ses", id, who: "alice", ...terms, ...more };
}

function job(id: string, more: object = {}): object {
  return { t: "job", id, session: "sess_A", agent: "a", trace: "t", at: 1000, lease: {}, ...more };
}

function frame(jobId: string, seq: number, payload: string): string {
  const type = payload.startsWith('{"kind"') ? "job.event" : "job.error";
  const head = { id: "msg_1", sessionId: "sess_A", jobId, traceId: "0af7", eventSeq: seq };
  return frameText(type, head, payload);
}

function logged(jobId: string, seq: number, message: string): string {
  const body = JSON.stringify({ level: "info", message });
  return frame(jobId, seq, `{"kind":"log","ts":"${AT}","body":${body}}`);
}

/** A store as an older program left it. */
async function left(
  records: readonly object[],
  frames: Readonly<Record<string, readonly string[]>> = {},
): Promise<Store> {
  const store = memoryStore();
  await store.log.open();
  const texts = records.map((record) => JSON.stringify(record));
  await store.streams.append("arcp/ledger", texts);
  for (const [id, entries] of Object.entries(frames)) {
    await store.streams.append(`arcp/session/${id}`, entries);
  }
  return store;
}

async function imported(store: Store) {
  await importLedger(store, { node: "here" });
  const { state } = await load(store.log, rules);
  return { state, contents: await contentsOf(store) };
}

test("a session whose frames were all acknowledged and forgotten keeps its number", async () => {
  const store = await left([session("sess_A"), job("job_1")], {
    sess_A: [logged("job_1", 1, "one"), logged("job_1", 2, "two")],
  });
  await store.streams.trim("arcp/session/sess_A", 2);
  const { contents } = await imported(store);
  const numbers = contents["session/sess_A"]?.map(decodeSessionEntry);
  expect(numbers).toEqual([{ seq: 2, jobId: "", first: 0, last: 0 }]);
});

test("its client resumes after that number, and the next frame has the next one", async () => {
  const token = tokenDigest("rt_old").toString("base64url");
  const store = await left([session("sess_A", { token }), job("job_1")], {
    sess_A: [logged("job_1", 1, "one"), logged("job_1", 2, "two")],
  });
  await store.streams.trim("arcp/session/sess_A", 2);
  const { connect } = await play({ store });
  const peer = connect();
  const resume = { session_id: "sess_A", resume_token: "rt_old", last_event_seq: 2 };
  await peer.hello({ resume });
  await quiet();
  expect(peer.stream).toMatchObject([{ event_seq: 3, type: "job.error", job_id: "job_1" }]);
});

test("a session whose oldest frames are gone begins where it did", async () => {
  const store = await left([session("sess_A"), job("job_1")], {
    sess_A: [logged("job_1", 1, "one"), logged("job_1", 2, "two"), logged("job_1", 3, "three")],
  });
  await store.streams.trim("arcp/session/sess_A", 1);
  const { contents } = await imported(store);
  const numbers = contents["session/sess_A"]?.map(decodeSessionEntry);
  expect(numbers).toEqual([{ seq: 2, jobId: "job_1", first: 1, last: 2 }]);
  expect(contents["job/job_1"]?.map(decodeEntry)).toMatchObject([
    { seq: 2, body: '{"level":"info","message":"two"}' },
    { seq: 3, atMs: AT_MS },
    { kind: "input", body: "null" },
  ]);
});

test("a notice that a client fell behind is the client's alone", async () => {
  const body = '{"phase":"back_pressure","message":"1001 events are not acknowledged"}';
  const notice = `{"kind":"status","ts":"${AT}","body":${body}}`;
  const store = await left([session("sess_A"), job("job_1")], {
    sess_A: [logged("job_1", 1, "one"), frame("job_1", 2, notice), logged("job_1", 3, "two")],
  });
  const { contents } = await imported(store);
  expect(contents["session/sess_A"]?.map(decodeSessionEntry)).toEqual([
    { seq: 1, jobId: "job_1", first: 1, last: 1 },
    { seq: 2, jobId: "job_1", atMs: AT_MS, kind: "status", body },
    { seq: 3, jobId: "job_1", first: 2, last: 2 },
  ]);
});

test("the end of a job that is forgotten is told in the same words", async () => {
  const error = '"code":"LEASE_EXPIRED","message":"too late","retryable":false,"details":{"n":1}';
  const failed = `{"final_status":"error",${error},"completed_at":"${AT}"}`;
  const cancelled = `{"final_status":"cancelled","completed_at":"${AT}"}`;
  const store = await left([session("sess_A")], {
    sess_A: [frame("job_1", 1, failed), frame("job_2", 2, cancelled)],
  });
  const { contents } = await imported(store);
  const outcomes = contents["session/sess_A"]
    ?.map(decodeSessionEntry)
    .map((each) => ("body" in each ? (JSON.parse(each.body) as object) : each));
  expect(outcomes).toEqual([
    { status: "error", code: "LEASE_EXPIRED", message: "too late", details: { n: 1 } },
    { status: "cancelled", reason: "" },
  ]);
});

test("a session that had read half of a job's history goes on with the other half", async () => {
  const follows = (j: string, at: number, live: boolean) => ({
    t: "sub",
    s: "sess_B",
    j,
    at,
    live,
  });
  const store = await left(
    [
      session("sess_A"),
      session("sess_B"),
      job("job_1"),
      job("job_2"),
      follows("job_1", 2, false),
      follows("job_2", 0, true),
      follows("job_forgotten", 0, true),
    ],
    {
      sess_A: [
        logged("job_1", 1, "one"),
        logged("job_2", 2, "one"),
        logged("job_1", 3, "two"),
        logged("job_2", 4, "two"),
      ],
    },
  );
  const { state, contents } = await imported(store);
  const followed = state.sessions.byId.get("sess_B")?.subscriptions;
  // All that the second one has said, the entries that nobody is shown included.
  const heads = { job_1: 1, job_2: contents["job/job_2"]?.length };
  const read = Array.from(followed?.values() ?? [], ({ jobId, after }) => [jobId, after] as const);
  expect(Object.fromEntries(read)).toEqual(heads);
});

test("a job that only the log knows has ended; the ledger knew better", async () => {
  const record = {
    agent: "a",
    principal: "alice",
    node: "before",
    parent: "",
    code: "",
    reason: "",
  };
  const times = { submittedAtMs: 500, startedAtMs: 600, endedAtMs: 0, restarts: 0 };
  const running = { ...record, ...times, status: "running" } as const;
  const store = await left([session("sess_A"), job("job_1", { queued: true })]);
  const events = ["job_0", "job_1"].map((id) =>
    encode({ type: "job.submitted", job: { ...running, id } }, 700),
  );
  await appendAt(store.log, { entries: events }, 0);
  const { state } = await imported(store);
  expect(state.jobs.byId.get("job_0")?.job).toMatchObject({
    status: "error",
    code: "UNAVAILABLE",
    endedAtMs: 1000,
  });
  expect(state.jobs.byId.get("job_1")?.job).toMatchObject({ status: "pending", node: "here" });
  expect(state.jobs.running).toBe(0);
});

test("what the ledger had dropped is gone, and so are streams of nobody", async () => {
  const store = await left(
    [
      session("sess_A"),
      session("sess_B"),
      job("job_1"),
      { t: "cred", job: "job_1", ids: ["c1"] },
      { t: "job-", id: "job_1" },
      { t: "job+", id: "job_1", restarts: 1 },
      { t: "cred-", job: "job_1" },
      { t: "ses-", id: "sess_B" },
    ],
    { sess_C: [logged("job_1", 1, "one")] },
  );
  const { state, contents } = await imported(store);
  expect([...state.sessions.byId.keys()]).toEqual(["sess_A"]);
  expect([state.jobs.byId.size, state.credentials.byJob.size]).toEqual([0, 0]);
  expect(Object.keys(contents)).toEqual(["log"]);
});

test("a file without a ledger is left as it is", async () => {
  const store = memoryStore();
  await importLedger(store, { node: "here" });
  expect(await contentsOf(store)).toEqual({});
});

test("a frame that cannot be read stops the import, and says which", async () => {
  const store = await left([session("sess_A")], { sess_A: ["{}"] });
  await expect(importLedger(store, { node: "here" })).rejects.toMatchObject({
    code: "STORAGE_CORRUPT",
    message: expect.stringContaining('"{}"') as string,
  });
});
