/** For tests of restarts: one process of a runtime after another, on the same disk. */
import { MemoryMedium, memoryStore } from "../../../src/log/memory/store.ts";
import type { JobContext } from "../../../src/jobs/context.ts";
import type { ArcpRuntime } from "../../../src/wires/arcp/server/runtime.ts";
import { quiet, TestClock } from "../engine/fixture.ts";
import { MortalStore, play, type PlayOptions, type TestPeer } from "./fixture.ts";

/** One process after another on the same disk. */
export function world(more: PlayOptions = {}) {
  const medium = new MemoryMedium();
  const clock = new TestClock();
  let lives = 0;
  const puppets: { life: number; job: JobContext; end: (value: unknown) => void }[] = [];
  const agents = (runtime: ArcpRuntime) => {
    const life = lives;
    const puppet = (_: unknown, job: JobContext) =>
      new Promise((end) => puppets.push({ life, job, end }));
    runtime.registerAgent("echo", (input) => input);
    runtime.registerAgent("puppet", puppet);
    runtime.registerAgent("phoenix", puppet, { restart: "always" });
  };
  const live = async () => {
    lives += 1;
    const store = new MortalStore(memoryStore({ medium, shared: false }));
    const scene = await play({ agents, ...more, medium, clock, store });
    return { ...scene, store };
  };
  return { live, puppets, medium, clock };
}

export type Life = Awaited<ReturnType<ReturnType<typeof world>["live"]>>;

export async function resume(
  life: Life,
  peer: TestPeer,
  last = peer.stream.at(-1)?.event_seq ?? 0,
) {
  const next = life.connect();
  const session_id = peer.sessionId ?? "";
  await next.hello({ resume: { session_id, resume_token: peer.token, last_event_seq: last } });
  await quiet();
  return next;
}
