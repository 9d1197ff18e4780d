/** A restart holds what sessions follow, and how far they have heard it. */
import { expect, test } from "vitest";
import { resume, world } from "../../../../test/support/arcp/lives.ts";
import { quiet } from "../../../../test/support/engine/fixture.ts";

test("subscriptions hold: who followed hears the end, who read history the rest", async () => {
  const { live, puppets } = world();
  const first = await live();
  const [owner, follower] = [await first.open(), await first.open()];
  const { job_id } = await owner.submit("puppet");
  await quiet();
  follower.send("job.subscribe", { job_id });
  await quiet();
  for (let i = 0; i < 600; i += 1) await puppets[0]?.job.thought(String(i));
  await quiet();
  const late = await first.open();
  late.send("job.subscribe", { job_id, history: true });
  // Subscribed, and some of the history copied, when the process dies.
  for (let i = 0; i < 4; i += 1) await new Promise((resolve) => setImmediate(resolve));
  first.store.kill();
  const second = await live();
  for (const peer of [follower, late]) {
    const next = await resume(second, peer, 0);
    await quiet();
    expect(next.stream.map(({ event_seq }) => event_seq)).toEqual(
      Array.from({ length: 601 }, (_, i) => i + 1),
    );
    expect(next.stream.slice(0, 600).map(({ payload }) => payload.body["text"])).toEqual(
      Array.from({ length: 600 }, (_, i) => String(i)),
    );
    expect(next.stream.at(-1)?.type).toBe("job.error");
  }
});

test("a history that is asked for again is told again, also after a kill", async () => {
  const { live } = world();
  const first = await live();
  const [owner, reader] = [await first.open(), await first.open({ profile: "py" })];
  const { job_id } = await owner.submit("echo", { input: "kept" });
  await quiet();
  const ask = async () => {
    reader.send("job.subscribe", { job_id, history: true });
    await quiet();
    return reader.frames.at(-1)?.payload["nonce"];
  };
  reader.send("session.pong", { ping_nonce: await ask(), received_at: "now" });
  await quiet();
  expect(reader.stream).toMatchObject([{ event_seq: 1, payload: { result: "kept" } }]);
  // Subscribed once more; the process dies before it begins to read.
  await ask();
  first.store.kill();
  const next = await resume(await live(), reader);
  await quiet();
  expect(next.stream).toMatchObject([{ event_seq: 2, payload: { result: "kept" } }]);
});

test("a history from a number on is told from there on, also after a kill", async () => {
  const { live, puppets } = world();
  const first = await live();
  const [owner, reader] = [await first.open(), await first.open({ profile: "py" })];
  const { job_id } = await owner.submit("phoenix");
  await quiet();
  for (const text of ["one", "two", "three"]) await puppets[0]?.job.thought(text);
  await quiet();
  reader.send("job.subscribe", { job_id, history: true, from_event_seq: 2 });
  await quiet();
  first.store.kill();
  const next = await resume(await live(), reader, 0);
  await quiet();
  const texts = next.stream.flatMap(({ payload }) => payload.body["text"] ?? []);
  expect(texts).toEqual(["three"]);
});

test("a follower hears nothing twice, also where its numbers of the job were trimmed", async () => {
  const { live, puppets, clock } = world();
  const first = await live();
  const [owner, follower] = [await first.open(), await first.open()];
  const { job_id } = await owner.submit("phoenix");
  await quiet();
  follower.send("job.subscribe", { job_id, history: true });
  await puppets[0]?.job.thought("old");
  await quiet();
  for (let i = 0; i < 2; i += 1) await follower.submit("puppet");
  await quiet();
  // Two jobs that take turns: each entry is a span of its own in the follower's stream.
  for (let i = 0; i < 6_000; i += 1) await puppets[1 + (i % 2)]?.job.thought(String(i));
  await quiet();
  follower.send("session.ack", { last_processed_seq: follower.stream.at(-1)?.event_seq ?? 0 });
  await clock.advance(20_000);
  first.store.kill();
  const next = await resume(await live(), follower);
  await puppets.at(-1)?.job.thought("new");
  await quiet();
  const heard = next.stream.filter((frame) => frame.job_id === job_id);
  const texts = heard.flatMap(({ payload }) => payload.body["text"] ?? []);
  expect(texts).toEqual(["new"]);
});
