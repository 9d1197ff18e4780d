import { describe, expect, test } from "vitest";
import { quiet } from "../../../../test/support/engine/fixture.ts";
import {
  accept,
  J1,
  J2,
  messages,
  scene,
  submitted,
} from "../../../../test/support/arcp-client/fixture.ts";

describe("the events of a job", () => {
  test("none is lost between the answer and the first look, also in the same turn", async () => {
    const set = await scene();
    const submitting = set.client.submit({ agent: "echo" });
    await quiet();
    accept(set.runtime, J1);
    set.runtime.event(J1, 1);
    set.runtime.end(J1, 2);
    const job = await submitting;
    expect(await messages(job)).toEqual(["event-1"]);
    expect((await job.done).status).toBe("success");
  });

  test("a reader that falls behind stops the runtime until it has caught up", async () => {
    const set = await scene();
    const job = await submitted(set);
    const { runtime, clock } = set;
    const reader = job.events();
    for (let seq = 1; seq <= 5000; seq += 1) runtime.event(J1, seq);
    for (let seq = 1; seq <= 10; seq += 1) await reader.next();
    await quiet();
    expect(runtime.link.runtime.waitingBytes).toBeGreaterThan(0);
    await clock.advance(10_000);
    expect(runtime.all("session.ping")).toHaveLength(1);
    for (let seq = 11; seq <= 5000; seq += 1) expect((await reader.next()).value?.seq).toBe(seq);
    expect(runtime.link.runtime.waitingBytes).toBe(0);
  });

  test("a reader that is behind is still a client that lives, however short the beat", async () => {
    const set = await scene({}, { heartbeat_interval_sec: 2 });
    const job = await submitted(set);
    const reader = job.events();
    set.runtime.event(J1, 1);
    await reader.next();
    for (let seq = 2; seq <= 3000; seq += 1) set.runtime.event(J1, seq);
    await quiet();
    await set.clock.advance(2_000);
    expect(set.runtime.all("session.ping")).toHaveLength(1);
    await set.clock.advance(2_000);
    expect(set.runtime.all("session.ping")).toHaveLength(2);
  });

  test("a runtime that was stopped is heard while somebody waits for its answer", async () => {
    const set = await scene();
    const job = await submitted(set);
    const reader = job.events();
    set.runtime.event(J1, 1);
    await reader.next();
    for (let seq = 2; seq <= 3000; seq += 1) set.runtime.event(J1, seq);
    await quiet();
    expect((await submitted(set, J2)).id).toBe(J2);
  });

  test("a reader that reads no more is told what it missed; the end comes anyway", async () => {
    const set = await scene();
    const job = await submitted(set);
    const reader = job.events();
    set.runtime.event(J1, 1);
    await reader.next();
    for (let seq = 2; seq <= 10_010; seq += 1) set.runtime.event(J1, seq);
    set.runtime.end(J1, 10_011);
    await set.clock.advance(30_000);
    expect((await job.done).status).toBe("success");
    const read = async () => {
      let count = 0;
      for await (const _ of reader) count += 1;
      return count;
    };
    await expect(read()).rejects.toMatchObject({ code: "SLOW_CONSUMER" });
  });

  test("a kind that nobody knows is left out; what was never read does not matter", async () => {
    const set = await scene();
    const job = await submitted(set);
    set.runtime.event(J1, 1, { kind: "new-kind", ts: "t", body: {} });
    set.runtime.event(J1, 2);
    set.runtime.end(J1, 3);
    expect(await messages(job)).toEqual(["event-2"]);
  });

  test("a failed job rejects with our code and its words; a cancelled one tells", async () => {
    const set = await scene();
    const [failed, cancelled] = [await submitted(set, J1), await submitted(set, J2)];
    const error = { final_status: "error", code: "BUDGET_EXHAUSTED", message: "USD is spent" };
    set.runtime.say("job.error", error, { job_id: J1, event_seq: 1 });
    const told = { final_status: "cancelled", code: "CANCELLED", message: "by hand" };
    set.runtime.say("job.error", told, { job_id: J2, event_seq: 2 });
    await expect(failed.done).rejects.toMatchObject({
      code: "BUDGET_EXHAUSTED",
      message: "USD is spent",
    });
    expect((await failed.ended).status).toBe("error");
    expect((await cancelled.done).status).toBe("cancelled");
  });

  test("parts of a result are put together; one out of turn spoils it", async () => {
    const set = await scene();
    const [whole, spoiled] = [await submitted(set, J1), await submitted(set, J2)];
    const chunk = (jobId: string, seq: number, part: object) => {
      const body = { result_id: "res_1", encoding: "utf8", more: true, ...part };
      set.runtime.event(jobId, seq, { kind: "result_chunk", ts: "t", body });
    };
    chunk(J1, 1, { chunk_seq: 0, data: "one " });
    chunk(J1, 2, { chunk_seq: 1, data: "zwei", more: false });
    set.runtime.end(J1, 3, { final_status: "success", result_id: "res_1", result_size: 8 });
    chunk(J2, 4, { chunk_seq: 1, data: "lost its head", more: false });
    set.runtime.end(J2, 5, { final_status: "success", result_id: "res_1" });
    expect((await whole.done).result).toBe("one zwei");
    await expect(spoiled.done).rejects.toThrow(/part 1 of res_1 came where 0 was due/);
  });
});
