/** Bytes that wait: whatever a client leaves unread or unsent, the daemon holds little of it. */
import { create, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { FRAME } from "../../src/net/http2/codes.ts";
import { GetTaskRequestSchema } from "../../src/wires/keeper/gen/agentkeeper/v1/agentkeeper_pb.ts";
import { frame, many } from "../support/http2/frames.ts";
import { dial, dialHttp2, grpcCall, headers, push } from "./hostile.ts";
import { victim } from "./victim.ts";

test("answers to pipelined requests that nobody reads", async () => {
  const daemon = await victim();
  const id = await daemon.largeTask();
  const get = `GET /v1/tasks/${id} HTTP/1.1\r\nHost: 127.0.0.1:${daemon.httpPort}\r\n\r\n`;
  const grew = await daemon.grewWhile(async (round) => {
    if (round > 1) return;
    await push(await dial(daemon.httpPort), get.repeat(200));
  });
  expect(grew).toBeLessThan(150);
});

test("answers to gRPC calls whose window stays shut", async () => {
  const daemon = await victim();
  const taskId = await daemon.largeTask();
  const message = toBinary(GetTaskRequestSchema, create(GetTaskRequestSchema, { taskId }));
  const path = "/agentkeeper.v1.TaskService/GetTask";
  const socket = await dialHttp2(daemon.grpcPort);
  const grew = await daemon.grewWhile((round) =>
    push(socket, Buffer.concat(many(30, (i) => grpcCall(2 * (30 * round + i) + 1, path, message)))),
  );
  expect(grew).toBeLessThan(150);
});

test("answers to hundreds of gRPC calls that come at once, and are not read", async () => {
  const daemon = await victim();
  const taskId = await daemon.largeTask();
  const message = toBinary(GetTaskRequestSchema, create(GetTaskRequestSchema, { taskId }));
  const path = "/agentkeeper.v1.TaskService/GetTask";
  const calls = Buffer.concat(many(900, (i) => grpcCall(2 * i + 1, path, message)));
  const grew = await daemon.grewWhile(async (round) => {
    if (round === 0) await push(await dialHttp2(daemon.grpcPort), calls);
  });
  expect(grew).toBeLessThan(250);
});

test("one-byte pieces of a gRPC request, each in a chunk of its own", async () => {
  const daemon = await victim();
  const socket = await dialHttp2(daemon.grpcPort);
  await push(socket, headers(1, "/agentkeeper.v1.TaskService/CreateTask"));
  const piece = frame(FRAME.DATA, 1, Buffer.of(0));
  const ignored = many(4, () => frame(0x20, 0, Buffer.alloc(16_000)));
  const prefix = Buffer.of(0, 0, 3, 0, 0);
  await push(socket, frame(FRAME.DATA, 1, prefix));
  const grew = await daemon.grewWhile(() =>
    push(socket, Buffer.concat(many(200, () => [piece, ...ignored]).flat())),
  );
  expect(grew).toBeLessThan(150);
});

test("bodies in one-byte chunks", async () => {
  const daemon = await victim();
  const head =
    `POST /v1/tasks/create HTTP/1.1\r\nHost: 127.0.0.1:${daemon.httpPort}\r\n` +
    `Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const sockets = await Promise.all(many(8, () => dial(daemon.httpPort)));
  for (const socket of sockets) await push(socket, head);
  const chunks = "1\r\nx\r\n".repeat(6_000);
  const grew = await daemon.grewWhile(() =>
    Promise.all(sockets.map((socket) => push(socket, chunks))),
  );
  expect(grew).toBeLessThan(150);
});

test("bodies in one-byte chunks that come at once with their heads", async () => {
  const daemon = await victim();
  const body =
    `POST /v1/tasks/create HTTP/1.1\r\nHost: 127.0.0.1:${daemon.httpPort}\r\n` +
    `Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n` +
    "1\r\nx\r\n".repeat(10_800);
  const grew = await daemon.grewWhile(async () => {
    const sockets = await Promise.all(many(20, () => dial(daemon.httpPort)));
    await Promise.all(sockets.map((socket) => push(socket, body)));
  });
  expect(grew).toBeLessThan(150);
});

test("messages on /arcp that are left one byte short", async () => {
  const daemon = await victim();
  const size = 4 * 1024 * 1024;
  const start = Buffer.alloc(14);
  start[0] = 0x81;
  start[1] = 0xff;
  start.writeBigUInt64BE(BigInt(size), 2);
  const rest = Buffer.alloc(size - 1, "x");
  const grew = await daemon.grewWhile(async () => {
    for (const socket of await Promise.all(many(4, () => dial(daemon.httpPort)))) {
      await push(socket, upgradeOn(daemon.httpPort));
      await push(socket, Buffer.concat([start, rest]));
    }
  });
  expect(grew).toBeLessThan(200);
});

test("answers to pings on /arcp that nobody reads", async () => {
  const daemon = await victim();
  const ping = Buffer.concat([Buffer.of(0x89, 0x80 | 125), Buffer.alloc(4 + 125)]);
  const pings = Buffer.concat(many(15_000, () => ping));
  const socket = await dial(daemon.httpPort);
  await push(socket, upgradeOn(daemon.httpPort));
  const grew = await daemon.grewWhile(() => push(socket, pings));
  expect(grew).toBeLessThan(50);
});

/** The request for a WebSocket of ARCP. */
function upgradeOn(port: number): string {
  return (
    `GET /arcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUpgrade: websocket\r\n` +
    `Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n` +
    `Sec-WebSocket-Version: 13\r\n\r\n`
  );
}
