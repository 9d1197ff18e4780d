/** Work that costs a client nothing: it is cut before it costs the daemon much. */
import { expect, test, vi } from "vitest";
import { FLAG, FRAME, SETTING } from "../../src/net/http2/codes.ts";
import { encoded } from "../../src/net/http2/hpack.ts";
import { flagged, frame, many, settings } from "../support/http2/frames.ts";
import { dialHttp2, headers, push } from "./hostile.ts";
import { victim } from "./victim.ts";

const GET_TASK = "/agentkeeper.v1.TaskService/GetTask";
const RESET = Buffer.alloc(4);

test("windows of thousands of streams that change all the time", async () => {
  const daemon = await victim();
  const socket = await dialHttp2(daemon.grpcPort);
  for (let i = 0; i < 9; i += 1) {
    await push(socket, Buffer.concat(many(100, (j) => headers(2 * (100 * i + j) + 1, GET_TASK))));
    await daemon.honestCall();
  }
  await push(socket, Buffer.concat(many(8_000, (i) => headers(2 * (900 + i) + 1, GET_TASK))));
  await daemon.honestCall();
  const before = daemon.cpuSeconds();
  const entries = many(2_700, (i) => [SETTING.INITIAL_WINDOW_SIZE, i % 2] as const);
  await push(socket, Buffer.concat(many(5, () => settings(...entries))));
  for (let i = 0; i < 10; i += 1) await daemon.honestCall();
  expect(daemon.cpuSeconds() - before).toBeLessThan(1);
});

const BOMB = encoded(many(30, (i) => [`x-${i}`, "v".repeat(500)] as const));

const OVER = Buffer.concat([headers(1, GET_TASK), frame(FRAME.RST_STREAM, 1, RESET)]);

test.each([
  [
    "streams that are opened and reset",
    () =>
      many(15_000, (i) => [
        headers(2 * i + 1, GET_TASK),
        frame(FRAME.RST_STREAM, 2 * i + 1, RESET),
      ]).flat(),
  ],
  [
    "headers that are refused",
    () => many(3_000, (i) => flagged(FLAG.END_HEADERS, frame(FRAME.HEADERS, 2 * i + 1, BOMB))),
  ],
  [
    "credit for a stream that is over",
    () => [OVER, ...many(200_000, () => frame(FRAME.WINDOW_UPDATE, 1, Buffer.of(0, 0, 0, 1)))],
  ],
  [
    "data for a stream that is over",
    () => [OVER, ...many(200_000, () => frame(FRAME.DATA, 1, Buffer.of(0)))],
  ],
])("%s: the connection is cut, and counted", async (_what, flood) => {
  const daemon = await victim();
  const socket = (await dialHttp2(daemon.grpcPort)).resume();
  await push(socket, Buffer.concat(flood()));
  // What is not cut by then is never cut.
  for (let i = 0; i < 20; i += 1) await daemon.honestCall();
  await vi.waitFor(() => expect(socket.destroyed).toBe(true), 2_000);
  await vi.waitFor(async () => {
    expect(await daemon.metric("rollcall_grpc_floods_total")).toBe(1);
  });
});
