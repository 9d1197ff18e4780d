/** §4.5: a client that does not read, or does not acknowledge. */
import { expect, test, vi } from "vitest";
import { codeOf } from "../../../core/errors.ts";
import { quiet } from "../../../../test/support/engine/fixture.ts";
import { ENGINE } from "../../../core/limits.ts";
import type { Run } from "../../../jobs/run.ts";
import { memoryStore, MemoryMedium } from "../../../log/memory/store.ts";
import { OUTPUT } from "./session-limits.ts";
import type { TransportEnding } from "./transport.ts";
import {
  play,
  type HelloOptions,
  type Play,
  type PlayOptions,
  type TestPeer,
} from "../../../../test/support/arcp/fixture.ts";
import { LIBRARY } from "../../../core/by.ts";

async function stage(options: PlayOptions = {}, hello: HelloOptions = {}) {
  const scene = await play({
    ...options,
    agents: (runtime) => runtime.registerAgent("endless", () => new Promise(() => undefined)),
  });
  const peer = await scene.open(hello);
  await peer.submit("endless");
  await quiet();
  return { ...scene, peer, run: runOf(scene) };
}

function runOf({ runtime }: Play): Run {
  const [id = ""] = runtime.jobs.state.jobs.byId.keys();
  const run = runtime.jobs.run(id);
  if (!run) throw new Error("no job");
  return run;
}

function end({ runtime, run }: Play & { readonly run: Run }): void {
  const ending = { status: "success", code: "", reason: "" } as const;
  runtime.jobs.term.decide({ type: "job.end", jobId: run.id, ending }, LIBRARY);
}

function say({ runtime, run }: Play & { readonly run: Run }, count: number, size = 1000): void {
  for (let i = 0; i < count; i += 1) {
    const text = `${i} `.padEnd(size, "x");
    runtime.jobs.events.tell(run, { kind: "thought", body: { text } });
  }
}

/** As a socket does: the end of a connection comes later than its `close`. Gives all endings. */
function closesLate({ wire }: TestPeer): readonly TransportEnding[] {
  const endings: TransportEnding[] = [];
  wire.close = (ending: TransportEnding) => {
    endings.push(ending);
    const over = () => wire.listener?.onClosed(ending);
    // A loop shall fail the test, and not hang it.
    if (endings.length === 100) over();
    else if (endings.length === 1) setImmediate(over);
  };
  return endings;
}

test("what a client does not read waits in the journal, and none is lost", async () => {
  const scene = await stage({}, { features: [] });
  const { peer } = scene;
  peer.wire.isReading = false;
  for (let round = 0; round < 20; round += 1) {
    say(scene, 500);
    await quiet();
    // No more than the bound, and one frame.
    expect(peer.wire.waitingBytes).toBeLessThan(OUTPUT.waitingBytes + 2000);
  }
  expect(scene.runtime.stats().waitingBytes).toBe(0);
  for (let turns = 0; turns < 100 && peer.wire.raw.length < 10_002; turns += 1) {
    peer.wire.read();
    await quiet();
  }
  expect(peer.stream.map(({ event_seq }) => event_seq)).toEqual(
    Array.from({ length: 10_000 }, (_, i) => i + 1),
  );
  // It is live again.
  say(scene, 1);
  await quiet();
  expect(peer.stream.at(-1)?.event_seq).toBe(10_001);
});

test("answers overtake events that wait, but never their own job's", async () => {
  const scene = await stage();
  const { peer } = scene;
  peer.wire.isReading = false;
  say(scene, 2000);
  await quiet();
  peer.send("job.submit", { agent: "endless" });
  await quiet();
  peer.wire.read();
  await quiet();
  const frames = peer.frames;
  const accepted = frames.findLastIndex(({ type }) => type === "job.accepted");
  expect(accepted).toBeGreaterThan(0);
  expect(frames.slice(0, accepted).every(({ job_id }) => job_id !== frames[accepted]?.job_id)).toBe(
    true,
  );
});

test('"at capacity detach the session instead of growing"', async () => {
  const scene = await stage({ sessions: { keptEvents: 5_000 } });
  const { peer, clock } = scene;
  peer.wire.isReading = false;
  say(scene, 10_000);
  await quiet();
  await clock.advance(20_000);
  expect(peer.wire.ending).toMatchObject({ code: 1013 });
  const next = scene.connect();
  const resume = { session_id: peer.sessionId ?? "", resume_token: peer.token, last_event_seq: 1 };
  expect((await next.hello({ resume })).payload["code"]).toBe("RESUME_WINDOW_EXPIRED");
});

test("a peer that asks and asks and never reads is let go", async () => {
  const { peer } = await stage();
  peer.wire.isReading = false;
  const nonce = "n".repeat(200);
  for (let i = 0; i < 100_000 && !peer.wire.ending; i += 1) {
    peer.send("session.ping", { nonce, sent_at: "now" });
  }
  expect(peer.wire.ending?.code).toBe(1013);
  expect(peer.wire.waitingBytes).toBeLessThan(OUTPUT.closeBytes + 1_000_000);
});

test('"when head − acked > 1000, one status{back_pressure}", re-armed below half', async () => {
  const scene = await stage();
  const { peer } = scene;
  const notices = () =>
    peer.stream.filter(({ payload }) => payload.body["phase"] === "back_pressure").length;
  say(scene, 1_000, 10);
  await quiet();
  expect(notices()).toBe(0);
  say(scene, 500, 10);
  await quiet();
  expect(notices()).toBe(1);
  peer.send("session.ack", { last_processed_seq: 600 });
  say(scene, 500, 10);
  await quiet();
  expect(notices()).toBe(1);
  peer.send("session.ack", { last_processed_seq: 2_000 });
  peer.send("session.ack", { last_processed_seq: 1 });
  say(scene, 1_001, 10);
  await quiet();
  expect(notices()).toBe(2);
});

test("acknowledged events of finished jobs are trimmed once nobody can ask for them", async () => {
  const scene = await stage({ limits: { finished: 0 } });
  const { peer, run, clock, medium } = scene;
  say(scene, 20_000, 10);
  await quiet();
  const held = () => medium.streams.get(run.stream)?.entries.length ?? 0;
  peer.send("session.ack", { last_processed_seq: 20_000 });
  await clock.advance(20_000);
  // Its job runs, so its history is kept.
  expect(held()).toBeGreaterThanOrEqual(20_000);
  end(scene);
  await quiet();
  await clock.advance(20_000);
  expect(held()).toBeLessThan(10);
});

test("a session that is gone leaves nothing behind once its jobs are forgotten", async () => {
  const scene = await stage({ limits: { finished: 0 } });
  const { peer, runtime, clock, medium } = scene;
  say(scene, 10, 10);
  end(scene);
  await quiet();
  peer.lose();
  await clock.advance(700_000);
  expect(runtime.stats()).toMatchObject({ sessions: 0, jobs: 0 });
  expect([...medium.streams.keys()]).toEqual([]);
});

test("forgotten events end a resume once: the next is refused, other jobs are found", async () => {
  const scene = await stage({ limits: { finished: 0 } });
  const { peer } = scene;
  const { job_id } = await peer.submit("endless");
  peer.lose();
  say(scene, 3);
  end(scene);
  await quiet();
  await scene.clock.advance(1_000);
  expect(scene.runtime.stats().jobs).toBe(1);
  const resume = { session_id: peer.sessionId ?? "", resume_token: peer.token, last_event_seq: 0 };
  const next = scene.connect();
  const endings = closesLate(next);
  expect((await next.hello({ resume })).type).toBe("session.welcome");
  await quiet();
  expect(endings).toEqual([{ code: 1013, reason: "events were dropped before they were read" }]);
  const refused = await scene.connect().hello({ resume: { ...resume, resume_token: next.token } });
  expect(refused.payload["code"]).toBe("RESUME_WINDOW_EXPIRED");
  const other = await scene.open();
  other.send("job.subscribe", { job_id, history: true });
  await quiet();
  expect(other.last("job.subscribed").payload["current_status"]).toBe("running");
});

test("a disk that fails while a client catches up ends its connection once", async () => {
  const store = memoryStore({ medium: new MemoryMedium(), shared: false });
  const scene = await stage({ store });
  const { peer } = scene;
  peer.lose();
  say(scene, 3);
  await quiet();
  const resume = { session_id: peer.sessionId ?? "", resume_token: peer.token, last_event_seq: 0 };
  const [bad, good] = [scene.connect(), scene.connect()];
  const endings = closesLate(bad);
  const reading = vi.spyOn(store.streams, "read").mockImplementation(() => {
    throw new Error("input/output error");
  });
  await bad.hello({ resume });
  expect(endings).toEqual([{ code: 1013, reason: "the disk failed" }]);
  reading.mockRestore();
  await good.hello({ resume: { ...resume, resume_token: bad.token } });
  expect(good.stream.map(({ event_seq }) => event_seq)).toEqual([1, 2, 3]);
});

test("an agent that outruns the disk is slowed down, or stopped if it does not wait", async () => {
  const outcomes: string[] = [];
  const { open } = await play({
    agents: (runtime) =>
      runtime.registerAgent("flood", async (_, job) => {
        const text = "x".repeat(60_000);
        const last: Promise<void>[] = [];
        for (let i = 0; i < 1_000; i += 1) last.push(job.thought(text));
        const settled = await Promise.allSettled(last);
        for (const each of settled) {
          outcomes.push(each.status === "rejected" ? codeOf(each.reason) : each.status);
        }
      }),
  });
  const peer = await open();
  await peer.submit("flood");
  await quiet();
  await expect.poll(() => peer.of("job.result").length).toBe(1);
  expect(outcomes).toContain("LIMIT_EXCEEDED");
  const taken = outcomes.filter((each) => each === "fulfilled").length;
  expect(taken * 60_000).toBeLessThan(ENGINE.waitingStreamBytes + 200_000);
  expect(peer.of("job.event")).toHaveLength(taken);
});
