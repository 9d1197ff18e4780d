/**
 * Text as WebSocket frames, RFC 6455, 5.2: many of them in one buffer, as a server sends them. A
 * client masks what it sends; that is left to `ws`.
 */
const FINAL_TEXT = 0x81;
/** Up to here the length stands in the second byte itself; then in two more, or in eight. */
const SHORT = 125;
const IN_TWO_BYTES = 126;
const IN_EIGHT_BYTES = 127;
const TWO_BYTES = 0xffff;

export function textFrames(texts: readonly string[]): Buffer {
  const lengths: number[] = [];
  let size = 0;
  for (const text of texts) {
    const length = Buffer.byteLength(text);
    lengths.push(length);
    size += headLength(length) + length;
  }
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  for (let i = 0; i < texts.length; i += 1) {
    const length = lengths[i] ?? 0;
    at = writeHead(bytes, at, length);
    bytes.write(texts[i] ?? "", at, length, "utf8");
    at += length;
  }
  return bytes;
}

function headLength(length: number): number {
  if (length <= SHORT) return 2;
  return length <= TWO_BYTES ? 4 : 10;
}

/** Gives where the text begins. */
function writeHead(bytes: Buffer, at: number, length: number): number {
  bytes[at] = FINAL_TEXT;
  if (length <= SHORT) {
    bytes[at + 1] = length;
    return at + 2;
  }
  if (length <= TWO_BYTES) {
    bytes[at + 1] = IN_TWO_BYTES;
    bytes[at + 2] = length >> 8;
    bytes[at + 3] = length & 0xff;
    return at + 4;
  }
  bytes[at + 1] = IN_EIGHT_BYTES;
  bytes.writeUInt32BE(0, at + 2);
  bytes.writeUInt32BE(length, at + 6);
  return at + 10;
}
