/**
 * An embedder turns texts into vectors: the built-in model, or another one behind an endpoint. One
 * embedder always gives vectors of the same size, each one unit long (or all zeros, when a text
 * means nothing to it).
 */
import { setImmediate as nextTurn } from "node:timers/promises";
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
