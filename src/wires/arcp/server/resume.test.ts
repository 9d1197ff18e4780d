/** §4.2, §4.3: coming back to a session. */
import { expect, test } from "vitest";
import { quiet } from "../../../../test/support/engine/fixture.ts";
import type { JobContext } from "../../../jobs/context.ts";
import { play, type Play, type TestPeer } from "../../../../test/support/arcp/fixture.ts";

/** An agent that says what the test tells it to, until it is told to end. */
function puppet() {
  const said: { job?: JobContext; end: () => void } = { end: () => undefined };
  const agent = (_: unknown, job: JobContext) => {
    said.job = job;
    return new Promise<string>((resolve) => (said.end = () => resolve("done")));
  };
  return { said, agent };
}

async function stage(options: Parameters<typeof play>[0] = {}) {
  const { said, agent } = puppet();
  const scene = await play({
    ...options,
    agents: (runtime) => runtime.registerAgent("puppet", agent),
  });
  const peer = await scene.open();
  await peer.submit("puppet");
  await quiet();
  const say = async (text: string) => {
    await said.job?.log("info", text);
    await quiet();
  };
  return { ...scene, peer, say, end: () => said.end() };
}

function resumeOf(peer: TestPeer, last_event_seq: number) {
  return { session_id: peer.sessionId ?? "", resume_token: peer.token, last_event_seq };
}

async function resume(scene: Play, peer: TestPeer, last: number) {
  const next = scene.connect();
  const answer = await next.hello({ resume: resumeOf(peer, last) });
  return { next, answer };
}

test('"welcome first, then all stored … byte-identical, then live events"', async () => {
  const scene = await stage();
  const { peer, say, end } = scene;
  await say("one");
  await say("two");
  const seen = peer.wire.raw.filter((frame) => frame.includes('"event_seq"'));
  peer.lose();
  await say("three, while detached");
  const { next, answer } = await resume(scene, peer, 1);
  await quiet();
  expect(answer).toMatchObject({ type: "session.welcome", session_id: peer.sessionId });
  expect(next.wire.raw[1]).toBe(seen[1]);
  await say("four");
  end();
  await quiet();
  expect(next.frames.map(({ type, event_seq }) => `${type} ${event_seq}`)).toEqual([
    "session.welcome undefined",
    "job.event 2",
    "job.event 3",
    "job.event 4",
    "job.result 5",
  ]);
});

test('"Allocate at append time, even while detached": numbers have no gap', async () => {
  const scene = await stage();
  scene.peer.lose();
  for (const text of ["a", "b", "c"]) await scene.say(text);
  const { next } = await resume(scene, scene.peer, 0);
  await quiet();
  expect(next.stream.map(({ event_seq }) => event_seq)).toEqual([1, 2, 3]);
});

test('"old one invalid immediately": each token resumes once, and one code refuses', async () => {
  const scene = await stage();
  scene.peer.lose();
  const { next } = await resume(scene, scene.peer, 0);
  next.send("session.ping", { nonce: "n", sent_at: "now" });
  next.lose();
  const again = await resume(scene, scene.peer, 0);
  expect(again.answer.payload).toMatchObject({ code: "RESUME_WINDOW_EXPIRED", retryable: false });
  expect(again.next.wire.ending?.code).toBe(1000);
  expect((await resume(scene, next, 0)).answer.type).toBe("session.welcome");
});

test("a client that never heard of its new token may come back with the one before", async () => {
  const scene = await stage();
  scene.peer.lose();
  const { next: deaf } = await resume(scene, scene.peer, 0);
  // Not while that connection lives and may yet speak.
  expect((await resume(scene, scene.peer, 0)).answer.type).toBe("session.error");
  deaf.lose();
  expect((await resume(scene, scene.peer, 0)).answer.type).toBe("session.welcome");
});

test('"other principal: refuse, same code"; nothing tells a stranger what exists', async () => {
  const scene = await stage();
  scene.peer.lose();
  const refusals = [
    await scene.connect().hello({ token: "bob-token", resume: resumeOf(scene.peer, 0) }),
    await scene.connect().hello({
      resume: { ...resumeOf(scene.peer, 0), resume_token: "rt_wrong" },
    }),
    await scene.connect().hello({ resume: { ...resumeOf(scene.peer, 0), session_id: "sess_no" } }),
  ].map(({ payload: { code, message, retryable } }) => ({ code, message, retryable }));
  expect(new Set(refusals.map((each) => JSON.stringify(each))).size).toBe(1);
  expect(refusals[0]?.code).toBe("RESUME_WINDOW_EXPIRED");
});

test('"keep the record": wrong guesses do not take the session from its owner', async () => {
  const scene = await stage();
  scene.peer.lose();
  for (let i = 0; i < 5; i += 1) {
    await scene.connect().hello({ resume: { ...resumeOf(scene.peer, 0), resume_token: `g${i}` } });
  }
  expect((await resume(scene, scene.peer, 0)).answer.type).toBe("session.welcome");
});

test('"rate-limit": who guesses on is not even heard when right, for a while', async () => {
  const scene = await stage();
  scene.peer.lose();
  for (let i = 0; i < 12; i += 1) {
    await scene.connect().hello({ resume: { ...resumeOf(scene.peer, 0), resume_token: `g${i}` } });
  }
  expect((await resume(scene, scene.peer, 0)).answer.type).toBe("session.error");
  await scene.clock.advance(5_000);
  expect((await resume(scene, scene.peer, 0)).answer.type).toBe("session.welcome");
});

test('"last_event_seq above head ⇒ RESUME_WINDOW_EXPIRED"', async () => {
  const scene = await stage();
  await scene.say("one");
  scene.peer.lose();
  expect((await resume(scene, scene.peer, 2)).answer.type).toBe("session.error");
  expect((await resume(scene, scene.peer, 1)).answer.type).toBe("session.welcome");
});

test('"old transport still attached: accept, terminate the old socket"', async () => {
  const scene = await stage();
  const { next } = await resume(scene, scene.peer, 0);
  expect(scene.peer.wire.ending?.code).toBe(1000);
  expect(next.wire.ending).toBeUndefined();
  await scene.say("to the new one");
  expect(next.stream).toHaveLength(1);
  expect(scene.peer.stream).toHaveLength(0);
});

test('"window starts at disconnect": an old session resumes, one 600 s gone not', async () => {
  const scene = await stage();
  await scene.clock.advance(3_600_000);
  scene.peer.lose();
  await scene.clock.advance(599_000);
  const { next, answer } = await resume(scene, scene.peer, 0);
  expect(answer.type).toBe("session.welcome");
  next.lose();
  await scene.clock.advance(600_000);
  expect((await resume(scene, next, 0)).answer.type).toBe("session.error");
});

test('"after clean bye: allowed within the window"; jobs keep running', async () => {
  const scene = await stage();
  scene.peer.send("session.close", { reason: "later" });
  await quiet();
  expect(scene.peer.last("session.closed").payload).toEqual({});
  expect(scene.peer.wire.ending?.code).toBe(1000);
  await scene.say("meanwhile");
  const { next } = await resume(scene, scene.peer, 0);
  await quiet();
  expect(next.stream).toHaveLength(1);
});

test('"features on resume: renegotiated"; session.resume is an alias of a hello', async () => {
  const scene = await stage();
  scene.peer.lose();
  const next = scene.connect();
  next.send(
    "session.resume",
    {
      resume_token: scene.peer.token,
      last_event_seq: 0,
      auth: { scheme: "bearer", token: "alice-token" },
      capabilities: { features: ["ack"] },
    },
    { session_id: scene.peer.sessionId },
  );
  await quiet();
  const { payload, session_id } = next.last("session.welcome");
  expect(session_id).toBe(scene.peer.sessionId);
  expect(payload["capabilities"].features).toEqual(["ack"]);
});

test('"last_event_seq below buffer ⇒ RESUME_WINDOW_EXPIRED", never a silent gap', async () => {
  const scene = await stage({ sessions: { keptEvents: 10 } });
  const { jobs } = scene.runtime;
  const run = jobs.run([...jobs.state.jobs.byId.keys()][0] ?? "");
  if (!run) throw new Error("no job");
  for (let i = 0; i < 5_000; i += 1) {
    jobs.events.tell(run, { kind: "thought", body: { text: String(i) } });
  }
  await scene.clock.advance(20_000);
  scene.peer.lose();
  expect((await resume(scene, scene.peer, 100)).answer.payload["code"]).toBe(
    "RESUME_WINDOW_EXPIRED",
  );
  const { next } = await resume(scene, scene.peer, 4_995);
  await quiet();
  expect(next.stream.map(({ event_seq }) => event_seq).slice(0, 2)).toEqual([4_996, 4_997]);
});
