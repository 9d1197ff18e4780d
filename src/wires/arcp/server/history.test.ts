/** Reading the history of a job while it goes on, is forgotten, or cannot be read. */
import { expect, test } from "vitest";
import { quiet } from "../../../../test/support/engine/fixture.ts";
import { RollcallError, type ErrorCode } from "../../../core/errors.ts";
import { sessionStream } from "../../../core/job-stream.ts";
import type { JobContext } from "../../../jobs/context.ts";
import { MemoryMedium, memoryStore } from "../../../log/memory/store.ts";
import type { ArcpRuntime } from "./runtime.ts";
import { MortalStore, play, type TestPeer } from "../../../../test/support/arcp/fixture.ts";

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

/** A store in memory that gives the streams of jobs when the test says so. */
function slowStore() {
  const medium = new MemoryMedium();
  const store = memoryStore({ medium, shared: false });
  const { streams } = store;
  const read = streams.read.bind(streams);
  const gate = { opened: Promise.resolve(), open: () => undefined as void };
  streams.read = async function* slowly(stream, after) {
    for await (const page of read(stream, after)) {
      if (stream.startsWith("job/")) await gate.opened;
      yield page;
    }
  };
  const hold = () => {
    gate.opened = new Promise((resolve) => (gate.open = resolve));
  };
  return { store, medium, hold, letGo: () => gate.open() };
}

/** One in memory whose streams of jobs cannot be read while the test says so. */
function brittleStore() {
  const store = memoryStore({ medium: new MemoryMedium(), shared: false });
  const { streams } = store;
  const read = streams.read.bind(streams);
  let code: ErrorCode | undefined;
  streams.read = (stream, after) => {
    if (code !== undefined && stream.startsWith("job/")) throw new RollcallError(code, "no");
    return read(stream, after);
  };
  return { store, fail: (given: ErrorCode | undefined) => (code = given) };
}

test("a job that ends while its history is read is heard to its end", async () => {
  const { store, hold, letGo } = slowStore();
  const { open } = await play({ agents, store });
  const [owner, other] = [await open(), await open()];
  const { job_id } = await owner.submit("puppet");
  await say("one");
  hold();
  other.send("job.subscribe", { job_id, history: true });
  await say("two");
  puppets[0]?.end("done");
  await quiet();
  letGo();
  await quiet();
  expect(toldOf(other, job_id)).toEqual(["one", "two", "success"]);
});

test("a follower that reads while the disk fails hears everything once", async () => {
  const { store, medium, hold, letGo } = slowStore();
  const mortal = new MortalStore(store);
  const { open, connect, clock } = await play({ agents, store: mortal });
  const [owner, other] = [await open(), await open()];
  const { job_id } = await owner.submit("echo");
  await quiet();
  hold();
  other.send("job.subscribe", { job_id, history: true });
  await quiet();
  mortal.fail({ isWritten: false });
  owner.send("job.submit", { agent: "puppet" });
  await clock.advance(2_000);
  letGo();
  await quiet();
  const next = connect();
  const session_id = other.sessionId ?? "";
  await next.hello({ resume: { session_id, resume_token: other.token, last_event_seq: 0 } });
  await quiet();
  expect(toldOf(next, job_id)).toEqual(["echo started", "success"]);
  const { entries = [] } = medium.streams.get(sessionStream(session_id)) ?? {};
  expect(entries).toEqual([`1 ${job_id} 1 2`]);
});

test("a history whose next part is forgotten while it is read goes on behind it", async () => {
  const { store, hold, letGo } = slowStore();
  const { open, clock } = await play({ agents, store, sessions: { keptEvents: 5 } });
  const [owner, other] = [await open(), await open()];
  const { job_id } = await owner.submit("puppet");
  await say("one", "two");
  hold();
  other.send("job.subscribe", { job_id, history: true });
  await quiet();
  await say(...Array.from({ length: 20 }, (_, i) => `n${i}`));
  await clock.advance(20_000);
  letGo();
  await quiet();
  await say("live");
  puppets[0]?.end("done");
  await quiet();
  const told = toldOf(other, job_id);
  expect(told.slice(0, 2)).toEqual(["one", "two"]);
  expect(told).not.toContain("n0");
  expect(told.slice(-3)).toEqual(["n19", "live", "success"]);
});

test("a store that cannot be read for a moment is asked again, damage is told of", async () => {
  const { store, fail } = brittleStore();
  const { open, clock } = await play({ agents, store });
  const [owner, other, third] = [await open(), await open(), await open()];
  const { job_id } = await owner.submit("puppet");
  await say("one");
  fail("UNAVAILABLE");
  other.send("job.subscribe", { job_id, history: true });
  await quiet();
  await say("two");
  expect(toldOf(other, job_id)).toEqual([]);
  fail("STORAGE_CORRUPT");
  third.send("job.subscribe", { job_id, history: true });
  await quiet();
  fail(undefined);
  await clock.advance(1_000);
  puppets[0]?.end("done");
  await quiet();
  expect(toldOf(other, job_id)).toEqual(["one", "two", "success"]);
  expect(toldOf(third, job_id)).toEqual(["error"]);
});
