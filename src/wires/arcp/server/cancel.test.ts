/** §2.14, §4.7: asking for the end of a job. */
import { expect, test } from "vitest";
import { quiet } from "../../../../test/support/engine/fixture.ts";
import { play } from "../../../../test/support/arcp/fixture.ts";

async function stage() {
  const scene = await play({
    agents: (runtime) => {
      runtime.registerAgent("echo", (input) => input);
      runtime.registerAgent("stubborn", () => new Promise(() => undefined));
    },
  });
  return { ...scene, peer: await scene.open() };
}

test('"accept payload.job_id too"; without a reason it is client.cancel', async () => {
  const { peer } = await stage();
  const { job_id } = await peer.submit("stubborn");
  peer.send("job.cancel", { job_id });
  await quiet();
  expect(peer.last("job.cancelled")).toMatchObject({
    job_id,
    payload: { reason: "client.cancel" },
  });
  expect(peer.last("job.cancelled")).not.toHaveProperty("event_seq");
});

test('"not sent for already-terminal jobs (stay silent)"', async () => {
  const { peer } = await stage();
  const { job_id } = await peer.submit("echo");
  await quiet();
  const before = peer.frames.length;
  peer.send("job.cancel", {}, { job_id });
  await quiet();
  expect(peer.frames).toHaveLength(before);
});

test('"cancel grace 30 s", unless the runtime says otherwise', async () => {
  const { peer, clock } = await stage();
  const { job_id } = await peer.submit("stubborn");
  peer.send("job.cancel", {}, { job_id });
  await clock.advance(29_999);
  expect(peer.stream).toEqual([]);
  await clock.advance(1);
  expect(peer.stream).toMatchObject([{ job_id, payload: { final_status: "cancelled" } }]);
});
