/** §5.6, §5.8: what a child knows of the money it spends. */
import { expect, test } from "vitest";
import { quiet } from "../../../../test/support/engine/fixture.ts";
import { play } from "../../../../test/support/arcp/fixture.ts";

test("a child without a budget of its own sees what its parent has left", async () => {
  const seen: unknown[] = [];
  const { open } = await play({
    agents: (runtime) => {
      runtime.registerAgent("child", async (_, job) => {
        await job.metric("cost.search", 0.5, { unit: "USD" });
        seen.push(job.budget);
      });
      runtime.registerAgent("parent", async (_, job) => {
        await (
          await job.delegate("child")
        ).done;
        seen.push(job.budget);
      });
    },
  });
  const peer = await open();
  await peer.submit("parent", {
    lease_request: { "agent.delegate": ["child"], "cost.budget": ["USD:2"] },
  });
  await quiet();
  expect(seen).toEqual([{ USD: "1.5" }, { USD: "1.5" }]);
});
