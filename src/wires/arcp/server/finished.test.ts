/** §2.15, §4.6: following a job that has ended. */
import { expect, test } from "vitest";
import { quiet } from "../../../../test/support/engine/fixture.ts";
import { play } from "../../../../test/support/arcp/fixture.ts";

test('"Exactly one terminal frame per job per observer", also without history', async () => {
  const { open } = await play({
    agents: (runtime) =>
      runtime.registerAgent("echo", async (input, job) => {
        await job.log("info", "echo started");
        return input;
      }),
  });
  const [owner, other] = [await open(), await open()];
  const { job_id } = await owner.submit("echo", { input: 7 });
  await quiet();
  other.send("job.subscribe", { job_id, history: false });
  await quiet();
  expect(other.last("job.subscribed").payload).toMatchObject({
    current_status: "success",
    replayed: false,
  });
  expect(other.stream).toMatchObject([{ type: "job.result", job_id, payload: { result: 7 } }]);
});
