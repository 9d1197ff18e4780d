/** HTTP/2 changed frame by frame: their order, their fields, and lengths that are right or not. */
import { FRAME_HEADER_BYTES, PREFACE } from "../../src/net/http2/codes.ts";
import { mutateBytes } from "./mutate-bytes.ts";
import { pick, type Material, type Mutator } from "./target.ts";

interface Frame {
  type: number;
  flags: number;
  id: number;
  payload: Buffer;
}

const FLAGS = [0, 0x1, 0x4, 0x5, 0x8, 0x20, 0x2d, 0xff];
const IDS = [0, 1, 2, 3, 5, 0x7fffffff, 0x80000001];

export const mutateFrames: Mutator = (input, material) => {
  const { random } = material;
  if (random.chance(0.2)) return mutateBytes(input, material);
  const frames = framesIn(input);
  const others = framesIn(material.other);
  do change(frames, others, material);
  while (random.chance(0.5));
  return bytesOf(frames);
};

function change(frames: Frame[], others: readonly Frame[], material: Material): void {
  const { random } = material;
  const at = random.between(0, Math.max(0, frames.length - 1));
  const frame = frames[at] ?? { type: 4, flags: 0, id: 0, payload: Buffer.alloc(0) };
  switch (random.between(0, 7)) {
    case 0:
      frames.splice(at, 1);
      break;
    case 1:
      frames.splice(at, 0, { ...frame });
      break;
    case 2:
      if (others.length > 0) frames.splice(at, 0, { ...pick(random, others) });
      break;
    case 3:
      frame.type = random.between(0, 12);
      break;
    case 4:
      frame.flags = pick(random, FLAGS);
      break;
    case 5:
      frame.id = pick(random, IDS);
      break;
    default:
      frame.payload = mutateBytes(frame.payload, material);
  }
}

function framesIn(input: Buffer): Frame[] {
  const frames: Frame[] = [];
  let at = input.subarray(0, PREFACE.length).equals(PREFACE) ? PREFACE.length : 0;
  while (input.length - at >= FRAME_HEADER_BYTES) {
    const end = at + FRAME_HEADER_BYTES + input.readUIntBE(at, 3);
    frames.push({
      type: input[at + 3] ?? 0,
      flags: input[at + 4] ?? 0,
      id: input.readUInt32BE(at + 5),
      payload: input.subarray(at + FRAME_HEADER_BYTES, end),
    });
    at = end;
  }
  return frames;
}

function bytesOf(frames: readonly Frame[]): Buffer {
  const parts = frames.flatMap(({ type, flags, id, payload }) => {
    const head = Buffer.alloc(FRAME_HEADER_BYTES);
    head.writeUIntBE(payload.length, 0, 3);
    head[3] = type;
    head[4] = flags;
    head.writeUInt32BE(id, 5);
    return [head, payload];
  });
  return Buffer.concat([PREFACE, ...parts]);
}
