import { describe, expect, test } from "vitest";
import { quiet } from "../../../../test/support/engine/fixture.ts";
import { ArcpClient } from "./client.ts";
import {
  accept,
  J1,
  J2,
  log,
  messages,
  outcome,
  scene,
  ScriptedRuntime,
  SESSION,
  submitted,
} from "../../../../test/support/arcp-client/fixture.ts";

describe("a connection that is lost", () => {
  test("is resumed where it was: each event once, and a gap is told", async () => {
    const set = await scene();
    const job = await submitted(set);
    const said = messages(job);
    const { runtime, runtimes, states } = set;
    runtime.event(J1, 1);
    runtime.event(J1, 2);
    await quiet();
    runtime.link.cut();
    await quiet();
    const next = runtimes[1] ?? runtime;
    expect(next.last("session.hello").payload["resume"]).toEqual({
      session_id: SESSION,
      resume_token: "rt_1",
      last_event_seq: 2,
    });
    next.welcome({ resume_token: "rt_2" });
    for (const seq of [2, 3, 3, 5]) next.event(J1, seq);
    next.end(J1, 6);
    expect(await said).toEqual(["event-1", "event-2", "event-3", "event-5"]);
    expect(states).toEqual(["live", "lost", "resumed", "gap"]);
    expect(set.client.resumption?.resumeToken).toBe("rt_2");
  });

  test("fails what waited for an answer, and lets new requests wait for the next", async () => {
    const set = await scene();
    const waiting = outcome(set.client.submit({ agent: "echo" }));
    await quiet();
    set.runtime.link.cut();
    expect(await waiting).toBe("UNAVAILABLE");
    const patient = set.client.submit({ agent: "echo" });
    await quiet();
    const next = set.runtimes[1] ?? set.runtime;
    next.welcome();
    await quiet();
    accept(next, J2);
    expect((await patient).id).toBe(J2);
  });

  test("is tried again after longer and longer", async () => {
    const { runtime, runtimes, clock } = await scene();
    runtime.link.cut();
    const atMs: number[] = [];
    for (let tries = 1; tries <= 8; tries += 1) {
      while (runtimes.length === tries) await clock.advance(50);
      atMs.push(clock.monotonicMs());
      runtimes[tries]?.link.cut();
      await quiet();
    }
    const waits = atMs.slice(1).map((each, i) => each - (atMs[i] ?? 0));
    expect(waits).toEqual([100, 200, 400, 800, 1600, 3200, 5000]);
  });

  test("is tried again after longer and longer, too, while each is over at once", async () => {
    const { runtime, runtimes, clock } = await scene();
    runtime.link.cut();
    const atMs: number[] = [];
    for (let tries = 1; tries <= 5; tries += 1) {
      while (runtimes.length === tries) await clock.advance(50);
      atMs.push(clock.monotonicMs());
      runtimes[tries]?.welcome();
      await quiet();
      runtimes[tries]?.link.cut();
      await quiet();
    }
    const waits = atMs.slice(1).map((each, i) => each - (atMs[i] ?? 0));
    expect(waits).toEqual([100, 200, 400, 800]);
    while (runtimes.length === 6) await clock.advance(50);
    runtimes[6]?.welcome();
    await clock.advance(1_000);
    runtimes[6]?.link.cut();
    await quiet();
    // One that held for a while is made again at once, and one that brought something new.
    expect(runtimes).toHaveLength(8);
    for (const brings of [7, 8, 9]) {
      runtimes[brings]?.welcome();
      runtimes[brings]?.event(J1, brings);
      await quiet();
      runtimes[brings]?.link.cut();
      await quiet();
      expect(runtimes).toHaveLength(brings + 2);
    }
  });

  test("whose session is gone becomes another: jobs are found by their history", async () => {
    const set = await scene();
    const [job, gone] = [await submitted(set, J1), await submitted(set, J2)];
    const said = messages(job);
    set.runtime.event(J1, 1);
    set.runtime.event(J2, 2);
    set.runtime.event(J1, 3);
    // It stands in no history.
    const lag = {
      kind: "status",
      body: { phase: "back_pressure", message: "1001 events are not acknowledged" },
    };
    set.runtime.event(J1, 4, { ...log(""), ...lag });
    await quiet();
    set.runtime.link.cut();
    await quiet();
    const refusal = { code: "RESUME_WINDOW_EXPIRED", message: "gone", retryable: false };
    set.runtimes[1]?.say("session.error", refusal);
    await set.clock.advance(100);
    const next = set.runtimes[2] ?? set.runtime;
    expect(next.last("session.hello").payload["resume"]).toBeUndefined();
    next.welcome({}, { session_id: "sess_new" });
    await quiet();
    const { nonce } = next.last("session.ping").payload;
    next.say("session.pong", { ping_nonce: nonce, received_at: "now" });
    await quiet();
    const [first, second] = next.all("job.subscribe");
    expect(first?.payload).toEqual({ job_id: J1, history: true, from_event_seq: 0 });
    const facts = { job_id: J1, current_status: "running", agent: "echo" };
    next.say("job.subscribed", { ...facts, request_id: first?.id });
    const details = { request_id: second?.id };
    next.say("session.error", { code: "JOB_NOT_FOUND", message: "no such job", details });
    for (const [seq, message] of ["event-1", "event-3", "event-4"].entries()) {
      next.event(J1, seq + 1, log(message));
    }
    next.end(J1, 4);
    expect(await said).toEqual(["event-1", "event-3", "event-4"]);
    await expect(gone.done).rejects.toThrow(/was lost with its session: no such job/);
    expect(set.states).toEqual(["live", "lost", "renewed"]);
  });

  test("over a bare transport ends the client, and everything that waits", async () => {
    const runtime = new ScriptedRuntime();
    runtime.welcome();
    const client = await ArcpClient.connect(runtime.link.client, { token: "tok" });
    const waiting = outcome(client.submit({ agent: "echo" }));
    await quiet();
    runtime.link.cut();
    expect(await waiting).toBe("UNAVAILABLE");
    expect(await outcome(client.submit({ agent: "echo" }))).toBe("UNAVAILABLE");
  });
});
