/** A restart loses nothing that a client was sent. */
import { expect, test } from "vitest";
import { play } from "../../../../test/support/arcp/fixture.ts";
import { resume, world } from "../../../../test/support/arcp/lives.ts";
import { quiet } from "../../../../test/support/engine/fixture.ts";
import type { Provisioner } from "../../../jobs/provisioner.ts";
import type { Log } from "../../../log/log.ts";
import { MemoryMedium, memoryStore } from "../../../log/memory/store.ts";

test("after a kill a client resumes with no gap, and its job ends once, retryably", async () => {
  const { live, puppets } = world();
  const first = await live();
  const peer = await first.open();
  const { job_id } = await peer.submit("puppet");
  await quiet();
  await puppets[0]?.job.log("info", "one");
  await puppets[0]?.job.log("info", "two");
  await quiet();
  first.store.kill();
  const second = await live();
  const next = await resume(second, peer, 1);
  expect(next.stream).toMatchObject([
    { event_seq: 2, payload: { body: { message: "two" } } },
    {
      event_seq: 3,
      job_id,
      type: "job.error",
      payload: { final_status: "error", code: "INTERNAL_ERROR", retryable: true },
    },
  ]);
  second.store.kill();
  const third = await live();
  const last = await resume(third, next, 0);
  expect(last.stream.filter(({ type }) => type === "job.error")).toHaveLength(1);
  expect(last.stream.map(({ event_seq }) => event_seq)).toEqual([1, 2, 3]);
});

test('"an event is delivered only after it is durable"', async () => {
  const { live, puppets } = world();
  const life = await live();
  const peer = await life.open();
  await peer.submit("puppet");
  await quiet();
  life.store.hold();
  await puppets[0]?.job.log("info", "not yet");
  peer.send("job.submit", { agent: "echo" });
  peer.send("session.list_jobs", {});
  await quiet();
  expect(peer.stream).toEqual([]);
  expect(peer.of("job.accepted")).toHaveLength(1);
  expect(peer.of("session.jobs")).toHaveLength(0);
  life.store.letGo();
  await quiet();
  expect(peer.stream).toHaveLength(2);
  expect(peer.of("job.accepted")).toHaveLength(2);
});

test("what was not durable was never told, and is not there after the kill", async () => {
  const { live, puppets } = world();
  const first = await live();
  const peer = await first.open();
  await peer.submit("puppet");
  await quiet();
  first.store.hold();
  await puppets[0]?.job.log("info", "lost");
  puppets[0]?.end("done");
  await quiet();
  first.store.kill();
  const next = await resume(await live(), peer, 0);
  expect(next.stream).toMatchObject([{ event_seq: 1, payload: { code: "INTERNAL_ERROR" } }]);
});

test('restart: "always" runs a job again, with what is left of its budget', async () => {
  const { live, puppets } = world();
  const first = await live();
  const peer = await first.open();
  const lease_request = { "cost.budget": ["USD:1"] };
  const { job_id } = await peer.submit("phoenix", { input: 7, lease_request });
  await quiet();
  await puppets[0]?.job.metric("cost.x", 0.25, { unit: "USD" });
  await quiet();
  first.store.kill();
  const second = await live();
  const next = await resume(second, peer);
  await quiet();
  expect(puppets).toHaveLength(2);
  expect(puppets[1]?.job.jobId).toBe(job_id);
  expect(puppets[1]?.job.budget).toEqual({ USD: "0.75" });
  puppets[1]?.end("risen");
  await quiet();
  expect(next.stream).toMatchObject([
    { payload: { kind: "status", body: { phase: "restarted" } } },
    { type: "job.result", payload: { result: "risen" } },
  ]);
});

test("a job that takes the process with it each time is given up", async () => {
  const { live, puppets } = world();
  let life = await live();
  const peer = await life.open();
  await peer.submit("phoenix");
  await quiet();
  for (let i = 0; i < 8; i += 1) {
    life.store.kill();
    life = await live();
    await quiet();
  }
  expect(puppets).toHaveLength(6);
  const next = await resume(life, peer, 0);
  expect(next.stream.at(-1)).toMatchObject({ type: "job.error" });
});

test("a cancel that was acknowledged holds after a kill, whoever would run again", async () => {
  const { live, puppets } = world();
  const first = await live();
  const peer = await first.open();
  const { job_id } = await peer.submit("phoenix");
  peer.send("job.cancel", { reason: "enough" }, { job_id });
  await quiet();
  expect(peer.of("job.cancelled")).toHaveLength(1);
  first.store.kill();
  const next = await resume(await live(), peer, 0);
  expect(next.stream).toMatchObject([{ payload: { final_status: "cancelled" } }]);
  expect(puppets).toHaveLength(1);
});

test("a job that waited in the queue waits again, and runs", async () => {
  const { live, puppets } = world({ limits: { runningPerPrincipal: 1 } });
  const first = await live();
  const peer = await first.open();
  await peer.submit("puppet");
  const { job_id } = await peer.submit("echo", { input: "patient" });
  await quiet();
  first.store.kill();
  const next = await resume(await live(), peer, 0);
  expect(puppets).toHaveLength(1);
  expect(next.stream).toMatchObject([
    { payload: { code: "INTERNAL_ERROR" } },
    { job_id, payload: { result: "patient" } },
  ]);
});

test("keys hold across a kill: the same submit is the same job, another a conflict", async () => {
  const { live } = world();
  const first = await live();
  const order = { input: 1, idempotency_key: "k" };
  const { job_id } = await (await first.open()).submit("echo", order);
  await quiet();
  first.store.kill();
  const peer = await (await live()).open();
  expect((await peer.submit("echo", order)).job_id).toBe(job_id);
  await quiet();
  expect(peer.stream).toMatchObject([{ job_id, type: "job.result", payload: { result: 1 } }]);
  const conflict = await peer.submit("echo", { ...order, input: 2 });
  expect(conflict.payload["code"]).toBe("DUPLICATE_KEY");
});

test("finished jobs can be listed and tailed after a kill, within their time", async () => {
  const { live, clock } = world();
  const first = await live();
  const owner = await first.open();
  const { job_id } = await owner.submit("echo", { input: "kept" });
  await quiet();
  first.store.kill();
  const second = await live();
  const peer = await second.open();
  peer.send("session.list_jobs", {});
  peer.send("job.subscribe", { job_id, history: true });
  await quiet();
  expect(peer.last("session.jobs").payload["jobs"]).toMatchObject([{ job_id, status: "success" }]);
  expect(peer.stream).toMatchObject([{ job_id, payload: { result: "kept" } }]);
  await clock.advance(25 * 3_600_000);
  second.store.kill();
  const third = await live();
  expect(third.runtime.stats()).toMatchObject({ jobs: 0 });
});

test("credentials that were out when the process died are revoked by the next one", async () => {
  const revoked: string[] = [];
  let isStuck = true;
  const provisioner: Provisioner = {
    issue: async ({ jobId }) => {
      if (isStuck && revoked.length === 0) return new Promise<never>(() => undefined);
      return [{ id: jobId, scheme: "bearer", value: "v", endpoint: "e" }];
    },
    revoke: async ({ jobId, credentialIds }) => {
      revoked.push(`${jobId} ${credentialIds.length}`);
    },
  };
  const { live, medium } = world({ provisioner });
  const first = await live();
  // It dies while the provisioner is being asked: whether one was made, nobody knows.
  const stuck = await first.open();
  stuck.send("job.submit", { agent: "puppet" });
  await quiet();
  isStuck = false;
  const { job_id } = await (await first.open()).submit("puppet");
  await quiet();
  first.store.kill();
  await live();
  await quiet();
  expect(revoked).toHaveLength(2);
  expect(revoked).toContain(`${job_id} 1`);
  expect(revoked.some((each) => each.endsWith(" 0"))).toBe(true);
  const disk = JSON.stringify([medium.entries, ...medium.streams.values()]);
  expect(disk).not.toContain('\\"value\\":\\"v\\"');
});

test("no token is on disk, and only the right one resumes after a kill", async () => {
  const { live, medium } = world();
  const first = await live();
  const peer = await first.open();
  first.store.kill();
  expect(JSON.stringify([medium.entries, ...medium.streams.values()])).not.toContain(peer.token);
  const second = await live();
  const thief = second.connect();
  const session_id = peer.sessionId ?? "";
  const guess = { session_id, resume_token: "rt_guess", last_event_seq: 0 };
  expect((await thief.hello({ resume: guess })).type).toBe("session.error");
  expect((await resume(second, peer)).of("session.welcome")).toHaveLength(1);
});

test("a start stays short and the disk bounded, however much happened", async () => {
  const { live, medium, clock } = world({ limits: { finished: 50 } });
  const life = await live();
  const peer = await life.open();
  for (let round = 0; round < 300; round += 1) {
    for (let i = 0; i < 50; i += 1) peer.send("job.submit", { agent: "echo", input: round });
    await quiet();
    peer.send("session.ack", { last_processed_seq: peer.wire.raw.length });
    peer.wire.raw.length = 0;
  }
  await clock.advance(60_000);
  await quiet();
  const kept = [...medium.streams].map(([name, { entries }]) => [name, entries.length] as const);
  for (const [name, entries] of kept) expect([name, entries < 25_000]).toEqual([name, true]);
  life.store.kill();
  const next = await live();
  expect(next.runtime.stats()).toMatchObject({ sessions: 1, jobs: 50 });
});

test("while the disk is full nobody is told what is not on it; then it goes on", async () => {
  const medium = new MemoryMedium();
  const inner = memoryStore({ medium, shared: false });
  let isFull = false;
  const log = new Proxy(inner.log, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (name !== "append") return value.bind(target) as unknown;
      return (...args: Parameters<Log["append"]>) =>
        isFull ? Promise.reject(new Error("disk full")) : target.append(...args);
    },
  });
  const scene = await play({
    store: { ...inner, log },
    agents: (runtime) => runtime.registerAgent("echo", (input) => input),
  });
  const peer = await scene.open();
  isFull = true;
  peer.send("job.submit", { agent: "echo" });
  await quiet();
  expect(peer.of("job.accepted")).toEqual([]);
  expect(peer.wire.ending?.code).toBe(1013);
  expect(scene.troubles[0]).toBe("stopped leading");
  expect(scene.connect().wire.ending?.code).toBe(1013);
  isFull = false;
  await scene.clock.advance(1_000);
  const again = await scene.open();
  expect((await again.submit("echo", { input: 1 })).type).toBe("job.accepted");
  expect((await again.submit("nobody")).type).toBe("session.error");
});
