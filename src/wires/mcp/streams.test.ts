import { expect, test, vi } from "vitest";
import { MIB } from "../../core/units.ts";
import { newWaiting } from "../../net/waiting.ts";
import { MCP } from "./limits.ts";
import { boundedResponse, EventStream } from "./streams.ts";

const FRAME = `data: ${"x".repeat(1024 * 1024)}\n\n`;
const MOST = MCP.unreadBytes / (1024 * 1024) + 1;

async function textOf(response: Response): Promise<string> {
  return response.text();
}

test("what is written is read in order, and the end is the end", async () => {
  let ends = 0;
  const stream = new EventStream(() => (ends += 1));
  expect(stream.write("data: 1\n\n")).toBe(true);
  stream.write("data: 2\n\n");
  stream.end();
  stream.end();
  expect([stream.write("data: 3\n\n"), ends]).toEqual([false, 1]);
  expect(await textOf(stream.response)).toBe("data: 1\n\ndata: 2\n\n");
});

test("a client that does not read is cut, once, and keeps no memory", async () => {
  let ends = 0;
  const stream = new EventStream(() => (ends += 1));
  let written = 0;
  while (stream.write(FRAME)) written += 1;
  expect(written).toBeLessThan(MOST);
  expect([stream.write(FRAME), ends]).toEqual([false, 1]);
  await expect(textOf(stream.response)).rejects.toThrow("does not read");
});

test("a client that leaves ends the stream", async () => {
  let ends = 0;
  const stream = new EventStream(() => (ends += 1));
  await stream.response.body?.cancel();
  expect([stream.write("data: 1\n\n"), ends]).toEqual([false, 1]);
});

function endless(onCancel: () => void): Response {
  const bytes = new TextEncoder().encode(FRAME);
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(bytes),
    cancel: onCancel,
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

test("a stream of the SDK is held to the same bound, and its source is told", async () => {
  const events: string[] = [];
  const response = boundedResponse(
    endless(() => events.push("cancelled")),
    () => events.push("over"),
  );
  await expect.poll(() => events).toEqual(["cancelled", "over"]);
  await expect(textOf(response)).rejects.toThrow("does not read");
});

test("who leaves a stream of the SDK ends its source", async () => {
  const events: string[] = [];
  const quiet = new Response(new ReadableStream({ cancel: () => void events.push("cancelled") }), {
    headers: { "content-type": "text/event-stream" },
  });
  const response = boundedResponse(quiet, () => events.push("over"));
  await response.body?.cancel();
  expect(events).toEqual(["cancelled", "over"]);
});

test("an answer that is no stream passes as it is", async () => {
  let ends = 0;
  const answer = Response.json({ a: 1 });
  expect(boundedResponse(answer, () => (ends += 1))).toBe(answer);
  expect(ends).toBe(1);
});

test("streams that nobody reads are counted together; what waits longest is cut", async () => {
  const { http_answers: answers } = newWaiting(undefined, { http_answers: { bytes: 3 * MIB } });
  const ends: string[] = [];
  const frame = "x".repeat(2 * MIB);
  const [first, second] = ["first", "second"].map(
    (name) => new EventStream(() => void ends.push(name), { answers }),
  );
  expect(first?.write(frame)).toBe(true);
  await vi.waitFor(() => expect(answers.bytes).toBe(2 * MIB));
  expect(second?.write(frame)).toBe(true);
  await vi.waitFor(() => expect(ends).toEqual(["first"]));
  expect(answers.bytes).toBe(2 * MIB);
  const reader = second?.response.body?.getReader();
  await reader?.read();
  await vi.waitFor(() => expect(answers.bytes).toBe(0));
  expect(second?.write("more")).toBe(true);
  await reader?.cancel();
  expect([answers.size, answers.cuts]).toEqual([0, 1]);
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(frame)),
  });
  const headers = { "content-type": "text/event-stream" };
  const copy = boundedResponse(new Response(body, { headers }), () => undefined, { answers });
  await vi.waitFor(() => expect(answers.bytes).toBe(2 * MIB));
  await copy.body?.cancel();
  expect(answers.size).toBe(0);
});
