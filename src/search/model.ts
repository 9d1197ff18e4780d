/**
 * The built-in embedding model: the mean of the rows of a text's tokens, made one unit long. Two
 * texts are as alike as the product of their vectors. It is a table, not a network: some tens of
 * thousands of texts a second on one core, as good on cards of agents as a transformer of 91 MB.
 */
import { readFile } from "node:fs/promises";
import { RollcallError } from "../core/errors.ts";
import { parseModel, type ModelTable } from "./model-file.ts";
import { WordPiece } from "./wordpiece.ts";

export class Model {
  readonly #table: ModelTable;
  readonly #wordPiece: WordPiece;
  readonly #sum: Float64Array;

  constructor(table: ModelTable) {
    this.#table = table;
    this.#wordPiece = new WordPiece(table.ids);
    this.#sum = new Float64Array(table.dimensions);
  }

  get dimensions(): number {
    return this.#table.dimensions;
  }

  /** One unit long; all zeros when the model knows nothing in the text. */
  embed(text: string): Float32Array {
    this.#sum.fill(0);
    for (const id of this.#wordPiece.encode(text)) this.#addRow(id);
    return unitLength(this.#sum);
  }

  #addRow(id: number): void {
    const { dimensions, groupSize, scales, weights } = this.#table;
    const sum = this.#sum;
    const groups = dimensions / groupSize;
    let at = (id * dimensions) / 2;
    let dimension = 0;
    for (let group = 0; group < groups; group += 1) {
      const scale = scales[id * groups + group] ?? 0;
      for (const end = dimension + groupSize; dimension < end; dimension += 2) {
        const pair = weights[at] ?? 0;
        sum[dimension] = (sum[dimension] ?? 0) + ((pair & 15) - 8) * scale;
        sum[dimension + 1] = (sum[dimension + 1] ?? 0) + ((pair >> 4) - 8) * scale;
        at += 1;
      }
    }
  }
}

export function unitLength(vector: Float64Array | readonly number[]): Float32Array {
  let square = 0;
  for (const value of vector) square += value * value;
  const factor = square > 0 ? 1 / Math.sqrt(square) : 0;
  const unit = new Float32Array(vector.length);
  for (let i = 0; i < unit.length; i += 1) unit[i] = (vector[i] ?? 0) * factor;
  return unit;
}

/** Two levels up from src/search/, dist/search/ and dist/bin/ alike. */
const ASSET = new URL("../../assets/potion-base-8m.int4.bin", import.meta.url);

export async function loadModel(url: URL = ASSET): Promise<Model> {
  return new Model(parseModel(await readAsset(url)));
}

async function readAsset(url: URL): Promise<Uint8Array> {
  try {
    return await readFile(url);
  } catch (error) {
    const message = `the embedding model cannot be read from ${url.pathname}`;
    throw new RollcallError("INTERNAL", message, { cause: error });
  }
}
