/**
 * Reads a PEM4 file: a table of one row per token, in 4 bits a number, with its vocabulary.
 *
 *   0    "PEM4", then uint32 version
 *   8    uint32 tokens, dimensions, group size, bytes of vocabulary
 *   24   vocabulary: UTF-8, one token a line, the line number is the token's id
 *   …    from the next multiple of 4: a scale (fp16) per token and group of dimensions
 *   …    weights, two a byte, the low half first, stored + 8
 *
 * All little-endian. The number at a place is (stored − 8) × the scale of its group. The weights
 * stay packed in the bytes of the file: unpacked they would take eight times the memory, and
 * unpacking a row costs no more than reading it.
 */
import { RollcallError } from "../core/errors.ts";

export interface ModelTable {
  readonly dimensions: number;
  readonly groupSize: number;
  /** The id of each token: the number of its row. */
  readonly ids: ReadonlyMap<string, number>;
  /** `dimensions / groupSize` per row. */
  readonly scales: Float32Array;
  /** `dimensions / 2` bytes per row. */
  readonly weights: Uint8Array;
}

const HEADER_BYTES = 24;
const VERSION = 1;

export function parseModel(file: Uint8Array): ModelTable {
  if (file.byteLength < HEADER_BYTES) throw broken(`has ${file.byteLength} bytes, no header`);
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const magic = String.fromCharCode(...file.subarray(0, 4));
  if (magic !== "PEM4") throw broken("does not begin with PEM4");
  const version = view.getUint32(4, true);
  if (version !== VERSION) throw broken(`is of version ${version}, not ${VERSION}`);
  const [tokens, dimensions, groupSize, vocabularyBytes] = [8, 12, 16, 20].map((at) =>
    view.getUint32(at, true),
  ) as [number, number, number, number];
  if (tokens === 0 || dimensions === 0) throw broken("has an empty table");
  if (groupSize === 0 || groupSize % 2 !== 0 || dimensions % groupSize !== 0) {
    throw broken(`divides ${dimensions} dimensions into groups of ${groupSize}`);
  }
  const scalesAt = Math.ceil((HEADER_BYTES + vocabularyBytes) / 4) * 4;
  const scaleCount = tokens * (dimensions / groupSize);
  const weightsAt = scalesAt + scaleCount * 2;
  const wantedBytes = weightsAt + (tokens * dimensions) / 2;
  if (file.byteLength !== wantedBytes) {
    throw broken(`has ${file.byteLength} bytes, its header asks for ${wantedBytes}`);
  }
  const vocabulary = file.subarray(HEADER_BYTES, HEADER_BYTES + vocabularyBytes);
  const scales = new Float32Array(scaleCount);
  for (let i = 0; i < scaleCount; i += 1) {
    scales[i] = fromHalf(view.getUint16(scalesAt + i * 2, true));
  }
  if (!scales.every(Number.isFinite)) throw broken("has a scale that is not a number");
  const weights = file.subarray(weightsAt);
  return { dimensions, groupSize, ids: parseVocabulary(vocabulary, tokens), scales, weights };
}

function parseVocabulary(bytes: Uint8Array, tokens: number): ReadonlyMap<string, number> {
  const lines = decodeText(bytes).split("\n");
  if (lines.length === tokens + 1 && lines.at(-1) === "") lines.pop();
  if (lines.length !== tokens) {
    throw broken(`has ${lines.length} lines of vocabulary for ${tokens} tokens`);
  }
  const ids = new Map(lines.map((token, id) => [token, id]));
  if (ids.size !== tokens) throw broken("has a token twice");
  return ids;
}

function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw broken("has a vocabulary that is not UTF-8", error);
  }
}

/** IEEE 754 half precision: a sign, 5 bits of exponent, 10 bits of fraction. */
function fromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function broken(problem: string, cause?: unknown): RollcallError {
  return new RollcallError("INTERNAL", `the embedding model ${problem}`, { cause });
}
