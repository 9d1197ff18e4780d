import { expect, test } from "vitest";
import { quiet } from "../../test/support/engine/fixture.ts";
import { world } from "../../test/support/arcp/lives.ts";
import { jobStream } from "../core/job-stream.ts";
import { rules } from "../core/rules.ts";
import { load } from "../engine/replica.ts";
import { unfinishedJobs } from "./unfinished.ts";

/** A running job that has said ten thousand things, found as before a node leads. */
async function found({ lease, again = false }: { lease?: object; again?: boolean } = {}) {
  const { live } = world();
  const life = await live();
  const peer = await life.open();
  const { job_id: jobId = "" } = await peer.submit("puppet", lease ? { lease_request: lease } : {});
  await quiet();
  const { streams } = life.store;
  const before = (await streams.range(jobStream(jobId))).head;
  const said = Array.from({ length: 10_000 }, (_, i) => `1 ${i + 1} log {"message":"${i}"}`);
  await streams.append(jobStream(jobId), said);
  let entriesRead = 0;
  const counted = {
    range: (stream: string) => streams.range(stream),
    async *read(stream: string, after: number) {
      for await (const batch of streams.read(stream, after)) {
        entriesRead += batch.entries.length;
        yield batch;
      }
    },
  };
  const { state } = await load(life.store.log, rules);
  const [job] = await unfinishedJobs({ state, streams: counted, runsAgain: () => again });
  return { job, entriesRead, before };
}

test("who takes over does not read what a job has said that cannot run again", async () => {
  const { job, entriesRead, before } = await found();
  expect(entriesRead).toBe(0);
  expect(job).toMatchObject({ head: before + 10_000, again: false });
});

test("who takes over reads the stream of a job that may run again, or has a budget", async () => {
  const again = await found({ again: true });
  expect(again.entriesRead).toBeGreaterThanOrEqual(10_000);
  const spender = await found({ lease: { "cost.budget": ["USD:1.50"] } });
  expect(spender.entriesRead).toBeGreaterThanOrEqual(10_000);
});
