import { expect, test } from "vitest";
import { JOB_STREAMS, jobStream } from "../core/job-stream.ts";
import { memoryStore } from "../log/memory/store.ts";
import { JobWorld } from "../../test/support/core/job-world.ts";
import { ForgottenStreams } from "./forgotten-streams.ts";
import { STREAM } from "./limits.ts";

async function given(...names: readonly string[]) {
  const store = memoryStore();
  await store.log.open();
  for (const name of names) await store.streams.append(name, ["entry"]);
  const left = async () => {
    const found: string[] = [];
    for await (const { stream } of store.streams.ranges("")) found.push(stream);
    return found;
  };
  return { forgotten: new ForgottenStreams(store.streams), left };
}

test("streams are removed together, when they are many or when it is time", async () => {
  const ids = Array.from({ length: STREAM.removedAtOnce }, (_, index) => `job_${1000 + index}`);
  const [first = "", ...others] = ids;
  const { forgotten, left } = await given(...ids.map(jobStream));
  forgotten.add([first]);
  expect(await left()).toHaveLength(ids.length);
  forgotten.add(others);
  expect(await left()).toEqual([]);
  const late = await given(jobStream(first));
  late.forgotten.add([first]);
  late.forgotten.remove();
  expect(await late.left()).toEqual([]);
});

test("a start finds the streams of jobs that are not there, and no others", async () => {
  const world = new JobWorld();
  const known = jobStream(world.submit());
  const { forgotten, left } = await given(known, `${JOB_STREAMS}job_gone`, "session/sess_1");
  await forgotten.find(world.state.jobs, new AbortController().signal);
  forgotten.remove();
  expect(await left()).toEqual([known, "session/sess_1"]);
});
