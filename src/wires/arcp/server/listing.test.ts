/** §2.7: which jobs a list shows. */
import { expect, test } from "vitest";
import { quiet } from "../../../../test/support/engine/fixture.ts";
import { play } from "../../../../test/support/arcp/fixture.ts";

test('"bare name matches every version", a full one its own; times are bounds', async () => {
  const { open, clock } = await play({
    agents: (runtime) => {
      runtime.registerAgent("code", () => 1, { version: "1.0.0" });
      runtime.registerAgent("code", () => 2, { version: "2.0.0" });
      runtime.registerAgent("coder", () => 3);
    },
  });
  const peer = await open();
  for (const agent of ["code@1.0.0", "code@2.0.0", "coder"]) {
    await peer.submit(agent);
    await clock.advance(1_000);
  }
  const listed = async (filter: object) => {
    peer.send("session.list_jobs", { filter });
    await quiet();
    return peer.last("session.jobs").payload["jobs"] as { agent: string; created_at: string }[];
  };
  const agentsOf = async (filter: object) => (await listed(filter)).map(({ agent }) => agent);
  expect(await agentsOf({ agent: "code" })).toEqual(["code@1.0.0", "code@2.0.0"]);
  expect(await agentsOf({ agent: "code@2.0.0" })).toEqual(["code@2.0.0"]);
  expect(await agentsOf({ agent: "co" })).toEqual([]);
  const [first, , last] = await listed({});
  const between = { created_after: first?.created_at, created_before: last?.created_at };
  expect(await agentsOf(between)).toEqual(["code@2.0.0"]);
});
