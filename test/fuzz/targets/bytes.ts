/** Readers of binary protocols: HTTP/2, HPACK, gRPC, protobuf. */
import { fromBinary, toBinary, toJson, type DescMessage } from "@bufbuild/protobuf";
import { RollcallError } from "../../../src/core/errors.ts";
import { framed, FrameReader } from "../../../src/net/grpc/frames.ts";
import { ConnectionError, PREFACE } from "../../../src/net/http2/codes.ts";
import { FrameParser } from "../../../src/net/http2/frame-parser.ts";
import { encoded, HeaderDecoder } from "../../../src/net/http2/hpack.ts";
import * as keeper from "../../../src/wires/keeper/gen/agentkeeper/v1/agentkeeper_pb.ts";
import { mutateBytes } from "../mutate-bytes.ts";
import { mutateFrames } from "../mutate-frames.ts";
import { pieces, same, unlessRefused, type Target } from "../target.ts";
import { hex, wordsOf } from "../words.ts";

const HEADER_BYTES = 4_096;
const MESSAGE_BYTES = 64 * 1024;
const LIMITS = { headerBytes: HEADER_BYTES, idleFramesPerSecond: 20_000 };

const isCut = (error: unknown) => error instanceof ConnectionError;

/** The frames, however the bytes are cut, and whether the connection is cut then. */
function framesOf(chunks: readonly Buffer[]): readonly string[] {
  const frames: string[] = [];
  const parser = new FrameParser(LIMITS, ({ type, flags, id, payload, length }) => {
    frames.push([type, flags, id, length, payload.toString("hex")].join(" "));
  });
  for (const chunk of chunks) {
    if (unlessRefused(isCut, () => [parser.push(chunk)])) continue;
    return [...frames, "cut"];
  }
  return frames;
}

const HEADERS = hex("828684410f7777772e6578616d706c652e636f6d");
const SETTINGS = hex("000006 04 00 00000000 0003 00000064");

const http2: Target = {
  name: "http2-frames",
  seeds: [
    Buffer.concat([PREFACE, SETTINGS, hex("000014 01 05 00000001"), HEADERS]),
    Buffer.concat([
      PREFACE,
      SETTINGS,
      hex("000014 01 00 00000001"),
      HEADERS,
      hex("000000 09 04 00000001"),
    ]),
    Buffer.concat([
      PREFACE,
      SETTINGS,
      hex("00001b 01 2d 00000003 02 00000001 10"),
      HEADERS,
      hex("0000"),
    ]),
    Buffer.concat([PREFACE, SETTINGS, hex("000008 00 09 00000001 02 0000000000 0000")]),
    Buffer.concat([PREFACE, SETTINGS, hex("000008 06 00 00000000 0102030405060708")]),
  ],
  words: [PREFACE, SETTINGS, HEADERS],
  mutate: mutateFrames,
  run(input) {
    same(framesOf([input]), framesOf(pieces(input)), "frames depend on how they were cut");
  },
};

/** Blocks on one connection: two bytes of length, the block. */
const hpack: Target = {
  name: "hpack",
  seeds: [
    Buffer.concat([hex("0014"), HEADERS]),
    hex("000f 4002 7465 0376 616c 3f e11f 20 3f 61"),
    hex("0011 828684418cf1e3c2e5f23a6ba0ab90f4ff 0006 828684be5808 0001 bf"),
  ],
  words: [HEADERS, hex("3fe11f"), hex("7fffffff0f"), hex("418cf1e3c2e5f23a6ba0ab90f4ff")],
  mutate: mutateBytes,
  run(input) {
    const decoder = new HeaderDecoder(HEADER_BYTES);
    for (let at = 0; at + 2 <= input.length;) {
      const end = at + 2 + input.readUInt16BE(at);
      const block = input.subarray(at + 2, end);
      const fields = unlessRefused(isCut, () => decoder.decode(block) ?? []);
      if (!fields) return;
      const again = new HeaderDecoder(HEADER_BYTES).decode(encoded(fields));
      same(again, fields, "headers do not survive being written again");
      at = end;
    }
  },
};

const isRefusedMessage = (error: unknown) =>
  error instanceof RollcallError && ["UNIMPLEMENTED", "TOO_LARGE"].includes(error.code);

function messagesOf(chunks: readonly Buffer[]): readonly string[] {
  const messages: string[] = [];
  const reader = new FrameReader(MESSAGE_BYTES);
  for (const chunk of chunks) {
    const whole = unlessRefused(isRefusedMessage, () => reader.push(chunk));
    if (!whole) return ["refused"];
    messages.push(...whole.map((each) => each.toString("hex")));
  }
  return [...messages, String(reader.isBetweenMessages)];
}

const grpc: Target = {
  name: "grpc-frames",
  seeds: [
    framed(Buffer.from("hello")),
    Buffer.concat([framed(Buffer.alloc(0)), framed(Buffer.alloc(300)), hex("00 00000010 01")]),
  ],
  words: [hex("0000000000"), hex("0000010000"), hex("0100000001"), hex("00ffffffff")],
  mutate: mutateBytes,
  run(input) {
    same(messagesOf([input]), messagesOf(pieces(input)), "messages depend on how they were cut");
  },
};

const MESSAGES: readonly DescMessage[] = keeper.file_agentkeeper_v1_agentkeeper.messages;

/** The library has no error of its own, and callers catch all; a stack must not overflow. */
function isBroken(error: unknown): boolean {
  return error instanceof Error && !error.message.includes("call stack");
}

/** The first byte says which message. */
const protobuf: Target = {
  name: "protobuf",
  seeds: MESSAGES.map((_, i) => Buffer.from([i, 0x0a, 0x03, 0x61, 0x62, 0x63, 0x10, 0x96, 0x01])),
  words: wordsOf("0a 0a00 0a8001 12 1a 22 08ffffffffffffffffff01 7f 0b 0c f8ff03 0d00000000"),
  mutate: mutateBytes,
  run(input) {
    const message = MESSAGES[(input[0] ?? 0) % MESSAGES.length];
    if (!message) return;
    const read = unlessRefused(isBroken, () => fromBinary(message, input.subarray(1)));
    if (!read) return;
    const again = fromBinary(message, toBinary(message, read));
    const json = (value: typeof read) => unlessRefused(isBroken, () => toJson(message, value));
    same(json(again), json(read), "a message does not survive being written again");
  },
};

export const BYTES: readonly Target[] = [http2, hpack, grpc, protobuf];
