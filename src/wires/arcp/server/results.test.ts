/** §2.12, §3: results that come in chunks. */
import { expect, test } from "vitest";
import { codeOf } from "../../../core/errors.ts";
import { quiet } from "../../../../test/support/engine/fixture.ts";
import type { JobContext } from "../../../jobs/context.ts";
import { play, type HelloOptions } from "../../../../test/support/arcp/fixture.ts";

async function result(body: (job: JobContext) => unknown, hello: HelloOptions = {}) {
  const { open } = await play({
    agents: (runtime) => runtime.registerAgent("writer", (_, job) => body(job)),
  });
  const peer = await open(hello);
  await peer.submit("writer");
  await quiet();
  const chunks = peer.of("job.event").map(({ payload }) => payload["body"]);
  return { peer, chunks, ending: peer.stream.at(-1) };
}

test('"job.result carries that result_id and no result"; the size is decoded', async () => {
  const { chunks, ending } = await result(async (job) => {
    const writer = job.streamResult();
    await writer.write("schön");
    await writer.write(Uint8Array.of(0, 255));
    await writer.end("two parts");
  });
  const result_id: unknown = chunks[0]?.["result_id"];
  expect(chunks).toEqual([
    { result_id, chunk_seq: 0, data: "schön", encoding: "utf8", more: true },
    { result_id, chunk_seq: 1, data: "AP8=", encoding: "base64", more: true },
    { result_id, chunk_seq: 2, data: "", encoding: "utf8", more: false },
  ]);
  expect(ending).toMatchObject({
    type: "job.result",
    payload: { final_status: "success", result_id, result_size: 8, summary: "two parts" },
  });
  expect(ending?.payload).not.toHaveProperty("result");
});

test('"auto-finalises if the agent forgets": a stream that was not ended is', async () => {
  const { chunks, ending } = await result(async (job) => job.streamResult().write("all"));
  expect(chunks.at(-1)).toMatchObject({ chunk_seq: 1, data: "", more: false });
  expect(ending).toMatchObject({ type: "job.result", payload: { result_size: 3 } });
});

test('"streamed and then returned a non-null value" fails with INVALID_REQUEST', async () => {
  const { ending } = await result(async (job) => {
    await job.streamResult().write("one");
    return "another";
  });
  expect(ending).toMatchObject({ type: "job.error", payload: { code: "INVALID_REQUEST" } });
});

test("a write after the end, and a second stream, are refused to the agent", async () => {
  const { ending } = await result(async (job) => {
    const writer = job.streamResult();
    await writer.end();
    await writer.end();
    expect(await writer.write("late").catch(codeOf)).toBe("WRONG_STATE");
    expect(() => job.streamResult()).toThrow(/streamed already/);
  });
  expect(ending).toMatchObject({ type: "job.result", payload: { result_size: 0 } });
});

test("who did not agree on result_chunk is told of no result that needs it", async () => {
  const plain = { features: [] };
  const streamed = await result(async (job) => job.streamResult().write("part"), plain);
  const large = await result(() => "x".repeat(1_000_000), plain);
  for (const { peer, ending } of [streamed, large]) {
    expect(peer.stream).toHaveLength(1);
    expect(ending).toMatchObject({ type: "job.error", payload: { code: "INVALID_REQUEST" } });
    expect(ending?.payload["message"]).toContain("result_chunk");
  }
});
