/** The messages between the main thread and the search thread. */
import type { Document } from "./document.ts";
import type { RankQuery } from "./documents.ts";

/** All that is new of one document. */
export interface IndexChange {
  readonly id: string;
  readonly isGone?: true;
  /** In place of the one of before. */
  readonly document?: Document;
  readonly isAlive?: boolean;
  readonly vector?: Float32Array;
}

export interface ChangeBatch {
  readonly kind: "changes";
  readonly collection: string;
  readonly changes: readonly IndexChange[];
}

export interface RankRequest extends RankQuery {
  readonly kind: "rank";
  readonly collection: string;
  readonly call: number;
}

export type ToSearchThread = ChangeBatch | RankRequest;

export type FromSearchThread =
  | {
      /** Changes were taken; also none, when embedding is done. */
      readonly kind: "taken";
      readonly collection: string;
      readonly changes: number;
      readonly unembedded: number;
    }
  | { readonly kind: "ranked"; readonly call: number; readonly ids: readonly string[] }
  | { readonly kind: "trouble"; readonly what: string; readonly message: string };

/** How the thread is started. */
export interface SearchThreadData {
  /** Whether it embeds with the built-in model; else vectors are sent to it. */
  readonly isEmbedding: boolean;
}
