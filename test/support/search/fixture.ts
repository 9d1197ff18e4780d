/** For tests of search: a PEM4 file made by hand, and agents that need no engine. */
import type { AgentCard } from "../../../src/core/agents.ts";
import { documentOf, type Document } from "../../../src/search/document.ts";

export interface TinyModel {
  readonly tokens: readonly string[];
  readonly dimensions: number;
  readonly groupSize: number;
  /** As fp16 bits, one per token and group. */
  readonly scales: readonly number[];
  /** From −8 to 7, one per token and dimension. */
  readonly weights: readonly number[];
}

export function modelFile(model: TinyModel): Uint8Array {
  const vocabulary = Buffer.from(model.tokens.join("\n"));
  const header = Buffer.alloc(24);
  header.write("PEM4");
  const { dimensions, groupSize } = model;
  const numbers = [1, model.tokens.length, dimensions, groupSize, vocabulary.length];
  for (const [i, value] of numbers.entries()) header.writeUInt32LE(value, 4 + 4 * i);
  const padding = Buffer.alloc((4 - (vocabulary.length % 4)) % 4);
  const scales = Buffer.alloc(model.scales.length * 2);
  for (const [i, bits] of model.scales.entries()) scales.writeUInt16LE(bits, 2 * i);
  const weights = Buffer.alloc(model.weights.length / 2);
  for (const [i, value] of model.weights.entries()) {
    weights[i >> 1] = (weights[i >> 1] ?? 0) | ((value + 8) << (i % 2 === 0 ? 0 : 4));
  }
  return new Uint8Array(Buffer.concat([header, vocabulary, padding, scales, weights]));
}

/** fp16: 1, 0.5 and 2. */
export const HALF = { one: 0x3c00, half: 0x3800, two: 0x4000 } as const;

export function card(name: string, given: Partial<AgentCard> = {}): AgentCard {
  const base = { description: "", version: "1", capabilities: [], tools: [], metadata: {} };
  return { ...base, name, ...given };
}

/** Of an agent that is alive; its name is its id. */
export function document(name: string, given: Partial<AgentCard> = {}): Document {
  return documentOf(name, card(name, given), true);
}
