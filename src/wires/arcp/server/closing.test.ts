/** §2.8, §4.1: how a connection ends, and what does not end it. */
import { expect, test } from "vitest";
import { quiet } from "../../../../test/support/engine/fixture.ts";
import { play } from "../../../../test/support/arcp/fixture.ts";

test('"on session.bye close 1000 with no reply"; its jobs go on', async () => {
  const { open, runtime } = await play({
    agents: (made) => made.registerAgent("endless", () => new Promise(() => undefined)),
  });
  const peer = await open();
  await peer.submit("endless");
  const before = peer.frames.length;
  peer.send("session.bye", { reason: "shutdown" });
  await quiet();
  expect(peer.frames).toHaveLength(before);
  expect(peer.wire.ending?.code).toBe(1000);
  expect([...runtime.jobs.state.jobs.byId.values()].map(({ job }) => job.status)).toEqual([
    "running",
  ]);
});

test('"bad JSON: INVALID_REQUEST": what cannot be read ends no session', async () => {
  const { open } = await play();
  const peer = await open();
  for (const text of ["{", "[]", '{"type":"job.submit"}', '{"id":"x","type":"no.such"}']) {
    peer.sendText(text);
  }
  peer.send("session.list_jobs", {});
  await quiet();
  expect(peer.of("session.error").map(({ payload }) => payload["code"])).toEqual(
    Array.from({ length: 4 }, () => "INVALID_REQUEST"),
  );
  expect(peer.of("session.error").at(-1)?.payload["details"]).toMatchObject({ request_id: "x" });
  expect(peer.of("session.jobs")).toHaveLength(1);
  expect(peer.wire.ending).toBeUndefined();
});

test("a second hello is refused, and the session goes on as it was", async () => {
  const { open } = await play();
  const peer = await open();
  peer.send("session.hello", {
    client: { name: "test", version: "1" },
    auth: { scheme: "bearer", token: "bob-token" },
  });
  peer.send("session.list_jobs", {});
  await quiet();
  expect(peer.of("session.welcome")).toHaveLength(1);
  expect(peer.last("session.error").payload["code"]).toBe("INVALID_REQUEST");
  expect(peer.of("session.jobs")).toHaveLength(1);
});

test('"Deduplicate with a bounded window": an id of long ago may come again', async () => {
  const { open } = await play();
  const peer = await open();
  const ask = (id: string) => peer.send("session.list_jobs", {}, { id });
  for (let i = 0; i < 512; i += 1) ask(`id-${i}`);
  ask("id-0");
  await quiet();
  expect(peer.of("session.jobs")).toHaveLength(512);
  ask("id-512");
  ask("id-0");
  await quiet();
  expect(peer.of("session.jobs")).toHaveLength(514);
});
