import { expect, test } from "vitest";
import { quiet } from "../../../../test/support/engine/fixture.ts";
import { play } from "../../../../test/support/arcp/fixture.ts";

test("a client is welcomed, submits, hears its job and its result, and leaves", async () => {
  const { open } = await play({
    agents: (runtime) =>
      runtime.registerAgent("echo", async (input, job) => {
        await job.log("info", "echo started");
        return { echoed: input };
      }),
  });
  const peer = await open();
  const accepted = await peer.submit("echo", { input: { x: 1 } });
  expect(accepted).toMatchObject({
    type: "job.accepted",
    payload: { agent: "echo", lease: {}, job_id: accepted.job_id },
  });
  await quiet();
  expect(peer.stream).toMatchObject([
    {
      type: "job.event",
      event_seq: 1,
      payload: { kind: "log", body: { message: "echo started" } },
    },
    {
      type: "job.result",
      event_seq: 2,
      payload: { final_status: "success", result: { echoed: { x: 1 } } },
    },
  ]);
  peer.send("session.bye", { reason: "done" });
  expect(peer.wire.ending).toMatchObject({ code: 1000 });
});
