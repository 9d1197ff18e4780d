/** Hostile clients, each as the red team found it to hurt: what they do until they are told off. */
import { create, toBinary } from "@bufbuild/protobuf";
import type { Socket } from "node:net";
import { FRAME, SETTING } from "../../src/net/http2/codes.ts";
import { GetTaskRequestSchema } from "../../src/wires/keeper/gen/agentkeeper/v1/agentkeeper_pb.ts";
import { dial, dialHttp2, grpcCall, headers, push } from "../attacks/hostile.ts";
import { frame, many, settings } from "../support/http2/frames.ts";

export interface AttackedPorts {
  readonly httpPort: number;
  readonly grpcPort: number;
  /** A task whose answer is large. */
  readonly taskId: string;
}

/** Gives its connections back, for somebody to end them. */
export type Attack = (ports: AttackedPorts) => Promise<readonly Socket[]>;

/** 200 pipelined requests with large answers, and nothing is read. */
const unreadHttp: Attack = async ({ httpPort, taskId }) => {
  const get = `GET /v1/tasks/${taskId} HTTP/1.1\r\nHost: 127.0.0.1:${httpPort}\r\n\r\n`;
  const sockets = await Promise.all(many(4, () => dial(httpPort)));
  for (const socket of sockets) void push(socket, get.repeat(200));
  return sockets;
};

const unreadGrpc: Attack = async ({ grpcPort, taskId }) => {
  const message = toBinary(GetTaskRequestSchema, create(GetTaskRequestSchema, { taskId }));
  const path = "/agentkeeper.v1.TaskService/GetTask";
  const socket = await dialHttp2(grpcPort);
  void push(socket, Buffer.concat(many(500, (i) => grpcCall(2 * i + 1, path, message))));
  return [socket];
};

const settingsFlood: Attack = async ({ grpcPort }) => {
  const socket = await dialHttp2(grpcPort);
  const path = "/agentkeeper.v1.TaskService/CreateTask";
  void push(socket, Buffer.concat(many(900, (i) => headers(2 * i + 1, path))));
  const flood = settings(...many(2_700, (i) => [SETTING.INITIAL_WINDOW_SIZE, i] as const));
  void push(socket, Buffer.concat(many(20, () => flood)));
  return [socket];
};

const pinnedChunks: Attack = async ({ grpcPort }) => {
  const socket = await dialHttp2(grpcPort);
  await push(socket, headers(1, "/agentkeeper.v1.TaskService/CreateTask"));
  await push(socket, frame(FRAME.DATA, 1, Buffer.of(0, 0, 3, 0, 0)));
  const piece = frame(FRAME.DATA, 1, Buffer.of(0));
  const ignored = frame(0x20, 0, Buffer.alloc(16_000));
  void push(socket, Buffer.concat(many(2_000, () => [piece, ignored]).flat()));
  return [socket];
};

const oneByteChunks: Attack = async ({ httpPort }) => {
  const head =
    `POST /v1/tasks/create HTTP/1.1\r\nHost: 127.0.0.1:${httpPort}\r\n` +
    "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
  const sockets = await Promise.all(many(8, () => dial(httpPort)));
  for (const socket of sockets) void push(socket, head + "1\r\nx\r\n".repeat(100_000));
  return sockets;
};

const halfFrames: Attack = async ({ httpPort }) => {
  const upgrade =
    `GET /arcp HTTP/1.1\r\nHost: 127.0.0.1:${httpPort}\r\nUpgrade: websocket\r\n` +
    "Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n" +
    "Sec-WebSocket-Version: 13\r\n\r\n";
  const size = 4 * 1024 * 1024;
  const start = Buffer.alloc(14);
  start[0] = 0x81;
  start[1] = 0xff;
  start.writeBigUInt64BE(BigInt(size), 2);
  const sockets = await Promise.all(many(30, () => dial(httpPort)));
  for (const socket of sockets) {
    socket.resume();
    await push(socket, upgrade);
    void push(socket, Buffer.concat([start, Buffer.alloc(size - 1)]));
  }
  return sockets;
};

const idleCrowd: Attack = ({ grpcPort }) => Promise.all(many(500, () => dial(grpcPort)));

export const ATTACKS: Readonly<Record<string, Attack>> = {
  unreadHttp,
  unreadGrpc,
  settingsFlood,
  pinnedChunks,
  oneByteChunks,
  halfFrames,
  idleCrowd,
};
