import { expect, test } from "vitest";
import { quiet } from "../../../../test/support/engine/fixture.ts";
import { messages, scene, SESSION } from "../../../../test/support/arcp-client/fixture.ts";

const idOf = (place: number) => `job_01KZ4TA0000000000000${String(place).padStart(6, "0")}`;

test("jobs of an earlier client that nobody asks for are let go, the oldest first", async () => {
  const resume = { sessionId: SESSION, resumeToken: "rt_1", lastEventSeq: 0 };
  const { client, runtime } = await scene({ resume });
  for (let place = 1; place <= 1_500; place += 1) {
    runtime.event(idOf(place), 2 * place - 1);
    runtime.end(idOf(place), 2 * place);
  }
  await quiet();
  expect(client.jobs).toHaveLength(1_000);
  expect(await messages(client.job(idOf(1_500)))).toEqual(["event-2999"]);
  expect(client.jobs).toHaveLength(999);
});
