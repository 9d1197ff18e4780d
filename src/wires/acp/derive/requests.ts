/**
 * The requests that have no answer yet, of both directions. Ids are counted by the sender, and `1`
 * is not `"1"`; an answer comes from the other side.
 */
import { requestKey, type FrameId, type FrameSender } from "./frames.ts";
import { MEMORY } from "./limits.ts";
import { remember } from "./memory.ts";
import type { AcpOption } from "./record.ts";

export interface OpenRequest {
  /** Unique in the connection, also over time. */
  readonly key: string;
  readonly method: string;
  /** The session it belongs to; none for those of the connection. */
  readonly sessionId: string | undefined;
  readonly askedAtMs: number;
  readonly ask?: PersonQuestion;
  /** The path, or the command that runs, of a request that the client serves. */
  readonly detail?: string;
}

/** A question to a person. */
export interface PersonQuestion {
  readonly kind: "permission" | "elicitation";
  readonly text: string;
  readonly toolCallId: string | undefined;
  readonly options: readonly AcpOption[];
}

export class Requests {
  readonly #open = {
    client: new Map<string, OpenRequest>(),
    agent: new Map<string, OpenRequest>(),
  };

  /** Returns the request that had to be forgotten for it, if any. */
  add(sender: FrameSender, id: FrameId, pending: OpenRequest): OpenRequest | undefined {
    const open = this.#open[sender];
    const key = requestKey(id);
    const replaced = open.get(key);
    const forgotten = remember(open, { key, value: pending, most: MEMORY.requests });
    return replaced ?? forgotten;
  }

  /** `answeredBy` is the sender of the answer: the request came from the other side. */
  take(answeredBy: FrameSender, id: FrameId): OpenRequest | undefined {
    const open = this.#open[answeredBy === "client" ? "agent" : "client"];
    const key = requestKey(id);
    const pending = open.get(key);
    open.delete(key);
    return pending;
  }

  find(sender: FrameSender, id: FrameId): OpenRequest | undefined {
    return this.#open[sender].get(requestKey(id));
  }
}
