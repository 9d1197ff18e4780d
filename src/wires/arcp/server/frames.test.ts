/** §1, §2.5, §4.4: frames that come twice, from strangers, of unknown types, too often or never. */
import { expect, test } from "vitest";
import { quiet } from "../../../../test/support/engine/fixture.ts";
import type { ArcpRuntime } from "./runtime.ts";
import { play } from "../../../../test/support/arcp/fixture.ts";

function agents(runtime: ArcpRuntime): void {
  runtime.registerAgent("echo", (input) => input);
  runtime.registerAgent("polite", (_, job) => {
    return new Promise((resolve) => job.signal.addEventListener("abort", resolve));
  });
}

test('"drop a frame whose id was already seen": a submit that comes twice is one job', async () => {
  const { open } = await play({ agents });
  const peer = await open();
  const text = JSON.stringify({ id: "same", type: "job.submit", payload: { agent: "echo" } });
  peer.sendText(text);
  peer.sendText(text);
  await quiet();
  expect(peer.of("job.accepted")).toHaveLength(1);
  expect(peer.of("job.result")).toHaveLength(1);
});

test("a submit that is sent again after a resume is told the job it made", async () => {
  const { open, connect } = await play({ agents });
  const peer = await open();
  const submit = JSON.stringify({ id: "again", type: "job.submit", payload: { agent: "polite" } });
  peer.sendText(submit);
  peer.lose();
  await quiet();
  expect(peer.of("job.accepted")).toHaveLength(0);
  const next = connect();
  const resume = { session_id: peer.sessionId ?? "", resume_token: peer.token, last_event_seq: 0 };
  await next.hello({ resume });
  next.sendText(submit);
  await quiet();
  expect(next.of("job.accepted")).toMatchObject([{ payload: { request_id: "again" } }]);
  next.send("session.list_jobs", {});
  await quiet();
  expect(next.last("session.jobs").payload["jobs"]).toHaveLength(1);
});

test('"unknown x-vendor.a.b ⇒ dropped if optional, else INVALID_REQUEST"', async () => {
  const { open } = await play();
  const peer = await open();
  peer.send("x-vendor.acme.hint", {}, { extensions: { optional: true } });
  await quiet();
  expect(peer.of("session.error")).toHaveLength(0);
  peer.send("x-vendor.acme.hint", {});
  peer.send("job.teleport", {}, { extensions: { optional: true } });
  await quiet();
  expect(peer.of("session.error").map(({ payload }) => payload["code"])).toEqual([
    "INVALID_REQUEST",
    "INVALID_REQUEST",
  ]);
  expect(peer.wire.ending).toBeUndefined();
});

test('"accepts any session_id on inbound frames": ours refuses that of another', async () => {
  const { open } = await play({ agents });
  const [one, other] = [await open(), await open()];
  const id = one.send("session.list_jobs", {}, { session_id: other.sessionId });
  await quiet();
  expect(one.last("session.error").payload).toMatchObject({
    code: "INVALID_REQUEST",
    details: { request_id: id, request_type: "session.list_jobs" },
  });
});

test('"Always answer a ping even if heartbeat was not negotiated"', async () => {
  const { open } = await play();
  const peer = await open({ features: [] });
  peer.send("session.ping", { nonce: 'p"1', sent_at: "whenever" });
  expect(peer.last("session.pong").payload["ping_nonce"]).toBe('p"1');
});

test('"HEARTBEAT_LOST: session.error, then close"; any frame is a sign of life', async () => {
  const { open, clock } = await play();
  const [silent, alive] = [
    await open({ features: ["heartbeat"] }),
    await open({ features: ["heartbeat"] }),
  ];
  for (let i = 0; i < 3; i += 1) {
    await clock.advance(30_000);
    alive.send("session.ack", { last_processed_seq: 0 });
  }
  expect(silent.of("session.ping").length).toBeGreaterThanOrEqual(1);
  expect(silent.last("session.error").payload).toMatchObject({ code: "HEARTBEAT_LOST" });
  expect(silent.wire.ending?.code).toBe(1000);
  expect(alive.wire.ending).toBeUndefined();
});

test("a principal that sends too many frames is told so, and only that one", async () => {
  const { open } = await play({ sessions: { framesPerSecond: 5 } });
  const [alice, bob] = [await open(), await open({ token: "bob-token" })];
  for (let i = 0; i < 12; i += 1) alice.send("session.list_jobs", {});
  bob.send("session.list_jobs", {});
  await quiet();
  expect(alice.of("session.jobs")).toHaveLength(10);
  expect(alice.of("session.error")).toHaveLength(2);
  expect(bob.of("session.jobs")).toHaveLength(1);
});
