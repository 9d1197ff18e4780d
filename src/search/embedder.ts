/**
 * An embedder turns texts into vectors: the built-in model, or another one behind an endpoint. One
 * embedder always gives vectors of the same size, each one unit long (or all zeros, when a text
 * means nothing to it).
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { RollcallError } from "../core/errors.ts";
import { documentText, type Document } from "./document.ts";
import { SEARCH } from "./limits.ts";
import { loadModel, type Model } from "./model.ts";

export interface Embedder {
  /** The vectors of the texts, in their order. Rejects for all when one cannot be made. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;
}

/** Read at the first use, once; lets others have their turn while it works through many texts. */
export function builtInEmbedder(load: () => Promise<Model> = loadModel): Embedder {
  let loading: Promise<Model> | undefined;
  const model = async () => {
    loading ??= load();
    try {
      return await loading;
    } catch (error) {
      loading = undefined;
      throw error;
    }
  };
  return {
    async embed(texts, signal) {
      const loaded = await model();
      const vectors: Float32Array[] = [];
      let characters = 0;
      for (const text of texts) {
        if (characters >= SEARCH.charactersPerTurn) {
          await nextTurn();
          characters = 0;
        }
        signal?.throwIfAborted();
        vectors.push(loaded.embed(text));
        characters += text.length;
      }
      return vectors;
    },
  };
}

/** The vectors of documents, in their order. */
export type DocumentEmbedder = (
  documents: readonly Document[],
  signal: AbortSignal,
) => Promise<Float32Array[]>;

/** Each document as one text: for models that know what a text is about. */
export function textEmbedder(embedder: Embedder): DocumentEmbedder {
  return (documents, signal) => embedder.embed(documents.map(documentText), signal);
}

export interface QueryEmbedding {
  readonly embedder: Embedder;
  readonly onTrouble: (what: string, error: unknown) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Nothing when it cannot be made: then words must do, which is better than no answer. */
export async function vectorOf(
  query: string,
  { embedder, onTrouble, signal }: QueryEmbedding,
): Promise<Float32Array | undefined> {
  try {
    const [vector] = await embedder.embed([query], signal);
    return vector;
  } catch (error) {
    if (signal?.aborted) throw new RollcallError("CANCELLED", "find was cancelled");
    onTrouble("could not embed a query", error);
    return undefined;
  }
}
