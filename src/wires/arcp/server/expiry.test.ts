/** §5.5: what a lease that has ended still allows, which is nothing. */
import { once } from "node:events";
import { expect, test } from "vitest";
import { codeOf } from "../../../core/errors.ts";
import { quiet, START_MS } from "../../../../test/support/engine/fixture.ts";
import { play } from "../../../../test/support/arcp/fixture.ts";

test('"every operation ⇒ LEASE_EXPIRED", also of an agent that goes on', async () => {
  const told: string[] = [];
  const { open, clock } = await play({
    agents: (runtime) =>
      runtime.registerAgent("late", async (_, job) => {
        job.authorize("fs.read", "/logs/today");
        await once(job.signal, "abort");
        try {
          job.authorize("fs.read", "/logs/today");
        } catch (error) {
          told.push(codeOf(error));
        }
      }),
  });
  const peer = await open();
  await peer.submit("late", {
    lease_request: { "fs.read": ["/logs/*"] },
    lease_constraints: { expires_at: new Date(START_MS + 60_000).toISOString() },
  });
  await clock.advance(60_000);
  await quiet();
  expect(told).toEqual(["LEASE_EXPIRED"]);
});
