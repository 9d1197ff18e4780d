/** §4.2: what failed resumes cost, and whom. */
import { expect, test } from "vitest";
import { play } from "../../../../test/support/arcp/fixture.ts";

test("clients that come back too late take nothing from others of their principal", async () => {
  const { open, connect } = await play();
  const peer = await open();
  peer.lose();
  for (let i = 0; i < 50; i += 1) {
    const gone = { session_id: `sess_gone${i}`, resume_token: "rt_old", last_event_seq: 0 };
    expect((await connect().hello({ resume: gone })).type).toBe("session.error");
  }
  const resume = { session_id: peer.sessionId ?? "", resume_token: peer.token, last_event_seq: 0 };
  expect((await connect().hello({ resume })).type).toBe("session.welcome");
});
