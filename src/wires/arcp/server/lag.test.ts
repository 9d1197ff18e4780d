/** §4.5: the notice of a session that lags is its own. */
import { expect, test } from "vitest";
import { quiet } from "../../../../test/support/engine/fixture.ts";
import { play } from "../../../../test/support/arcp/fixture.ts";

test("what one session is told of its lag is no history for another", async () => {
  const { open } = await play({
    agents: (runtime) =>
      runtime.registerAgent("chatty", async (_, job) => {
        for (let i = 0; i < 1_200; i += 1) await job.thought(String(i));
        await job.status("done");
      }),
  });
  const [owner, other] = [await open(), await open({ features: ["subscribe"] })];
  const { job_id } = await owner.submit("chatty");
  await quiet();
  other.send("job.subscribe", { job_id, history: true });
  await quiet();
  const phasesOf = (peer: typeof owner) =>
    peer
      .of("job.event")
      .map(({ payload }) => payload["body"]["phase"])
      .filter((phase) => phase !== undefined);
  expect(phasesOf(owner)).toEqual(["back_pressure", "done"]);
  expect(phasesOf(other)).toEqual(["done"]);
  expect(other.stream).toHaveLength(1_202);
});
