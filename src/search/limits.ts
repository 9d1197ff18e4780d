/** The limits of a search, each with its reason. */
import { KIB, MIB, SECOND } from "../core/units.ts";

export const SEARCH = {
  /** Of a text, what is looked at: the mean of more words than this says nothing more. */
  textLength: 16 * KIB,
  /** A query is a sentence or two; as long as a description, so that one can be pasted. */
  queryLength: 4 * KIB,
  defaultLimit: 10,
  /** As many as one answer can hold. */
  maxLimit: 1_000,
  /** Embedded before others get their turn: about a millisecond. */
  charactersPerTurn: 8 * KIB,
  /** Documents added before others get theirs. */
  documentsPerTurn: 32,
  /** Texts given to an embedder at once: one request, where it is far away. */
  textsPerBatch: 64,
  /** How long a find waits for the documents: after a start, half a million take as long. */
  catchUpMs: 30 * SECOND,
  /** How long a find waits for embeddings of agents that have just come; then words must do. */
  settleMs: 2 * SECOND,
  /** Between two tries to embed, or to follow the engine, after one failed. */
  firstRetryMs: 1 * SECOND,
  lastRetryMs: 60 * SECOND,
  /** Documents that wait for the first find; with more, the thread starts and embeds them. */
  lazyDocuments: 1_000,
  /** Changes that the thread has not taken: what it does in a tenth of a second. */
  untakenChanges: 4_096,
  /** Finds that wait for the thread; among a million agents, it does twenty a second. */
  waitingFinds: 1_024,
  /** Slots of the gone that are kept before the index is packed: packing costs a pass over all. */
  emptySlots: 1_024,
} as const;

/** An embedding endpoint somebody else runs. */
export const ENDPOINT = {
  /** A model on a CPU needs seconds for a batch; one that needs this long is stuck. */
  timeoutMs: 30 * SECOND,
  /** Texts in one request: all endpoints known to us take as many. */
  batch: 64,
  maxBatch: 2_048,
  /** 2,048 vectors of 4,096 numbers as JSON would be more; nobody sends that. */
  answerBytes: 64 * MIB,
  /** The largest models have 8,192; each agent costs a byte for each. */
  dimensions: 8_192,
} as const;

/** A word longer than this is no word; from BERT's tokenizer. */
export const WORD_LENGTH = 100;
