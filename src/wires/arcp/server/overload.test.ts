/** The runtime while too much waits for the disk: what it does itself is not refused. */
import { expect, test } from "vitest";
import { LIBRARY } from "../../../core/by.ts";
import { ENGINE, FIELD } from "../../../core/limits.ts";
import { memoryStore } from "../../../log/memory/store.ts";
import { MortalStore, play, type Play } from "../../../../test/support/arcp/fixture.ts";
import { quiet } from "../../../../test/support/engine/fixture.ts";

/** Commands of other callers, until they are told to come back. */
function flood({ runtime }: Play): void {
  const input = Buffer.alloc(FIELD.taskInputBytes).toString("base64");
  const rest = { taskType: "t", requiredTools: [], maxRetries: 0, ttlMs: 0 };
  const calls = (2 * ENGINE.queuedBytes) / input.length;
  const create = () => runtime.jobs.term.decide({ type: "task.create", input, ...rest }, LIBRARY);
  expect(() => {
    for (let i = 0; i < calls; i += 1) create();
  }).toThrow("wait for the disk");
}

test("followers of a job hear of its end, and a client that came back is heard", async () => {
  const store = new MortalStore(memoryStore({ shared: false }));
  let end: () => void = () => undefined;
  const scene = await play({
    store,
    agents: (runtime) =>
      runtime.registerAgent("slow", () => new Promise<void>((resolve) => (end = resolve))),
  });
  const [owner, follower] = [await scene.open(), await scene.open()];
  const { job_id } = await owner.submit("slow");
  follower.send("job.subscribe", { job_id });
  await quiet();
  owner.lose();
  const resume = { session_id: owner.sessionId ?? "", resume_token: owner.token };
  const again = await scene.open({ resume: { ...resume, last_event_seq: 0 } });
  store.hold();
  flood(scene);
  end();
  again.send("session.list_jobs", {});
  await quiet();
  store.letGo();
  await quiet();
  for (const peer of [again, follower]) {
    expect(peer.of("job.result")).toHaveLength(1);
    expect(peer.wire.ending).toBeUndefined();
  }
  expect(again.of("session.jobs")).toHaveLength(1);
  await scene.runtime.close();
});
