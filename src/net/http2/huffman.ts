/**
 * The code in which header texts may come (RFC 7541, appendix B). It is canonical: the lengths of
 * the codes are enough to know the codes, shorter ones first and equal ones in order of the byte.
 */
import { ConnectionError, ERROR } from "./codes.ts";

/** Of the bytes 0 to 255, sixteen in a row. */
const LENGTHS: readonly number[] = [
  [13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28],
  [28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28],
  [6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6],
  [5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10],
  [13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7],
  [7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6],
  [15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5],
  [6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28],
  [20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23],
  [24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24],
  [22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23],
  [21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23],
  [26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25],
  [19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27],
  [20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23],
  [26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26],
].flat();

/** A node is two places in here, for a 0 and a 1: the next node, or a byte below zero. */
const TREE: readonly number[] = grown();

function grown(): number[] {
  const tree = [0, 0];
  const bytes = LENGTHS.map((length, byte) => ({ length, byte }));
  bytes.sort((a, b) => a.length - b.length || a.byte - b.byte);
  let code = 0;
  let before = bytes[0]?.length ?? 0;
  for (const { length, byte } of bytes) {
    code *= 2 ** (length - before);
    before = length;
    let node = 0;
    for (let bit = length - 1; bit >= 0; bit -= 1) {
      const place = node + (Math.floor(code / 2 ** bit) % 2);
      if (bit === 0) tree[place] = -1 - byte;
      else if (tree[place] === 0) tree[place] = tree.push(0, 0) - 2;
      node = tree[place] ?? 0;
    }
    code += 1;
  }
  return tree;
}

/** At most this many bits fill the last byte up, all of them ones. */
const PADDING_BITS = 7;

export function huffmanDecoded(bytes: Buffer): Buffer {
  // No code is shorter than five bits.
  const text = Buffer.allocUnsafe(Math.ceil((bytes.length * 8) / 5));
  let length = 0;
  let node = 0;
  let bits = 0;
  let isOnes = true;
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit -= 1) {
      const one = (byte >> bit) & 1;
      const next = TREE[node + one] ?? 0;
      bits += 1;
      isOnes &&= one === 1;
      if (next < 0) {
        text[length] = -1 - next;
        length += 1;
        node = 0;
        bits = 0;
        isOnes = true;
      } else if (next === 0) {
        throw new ConnectionError(ERROR.COMPRESSION_ERROR, "no such Huffman code");
      } else {
        node = next;
      }
    }
  }
  if (bits > PADDING_BITS || !isOnes) {
    throw new ConnectionError(ERROR.COMPRESSION_ERROR, "wrong Huffman padding");
  }
  return text.subarray(0, length);
}
