/**
 * A gRPC service, as its author writes it: a function per method of the proto, with no idea of
 * how calls are carried. Answers are messages; streams are messages as they come, or, where many
 * are sent the same, feeds of bytes.
 */
import type { By } from "../../core/by.ts";
import type { DescMessage, DescService, MessageShape } from "@bufbuild/protobuf";

/** One call, beside its request. */
export interface GrpcCall {
  readonly by: By;
  /** Aborts when the caller no longer waits: cancelled, disconnected, past its deadline. */
  readonly signal: AbortSignal;
  /** The caller's metadata of this name. */
  header(name: string): string | undefined;
  /** Sends metadata with the answer. */
  tell(name: string, value: string): void;
}

/**
 * A stream as bytes for the asking, so that what a thousand callers are sent is made once. It is
 * asked for more when the caller has taken what there was.
 */
export interface Feed {
  /** One or more messages, framed; nothing when it is over. Rejects with the reason to end. */
  next(): Promise<Uint8Array | undefined>;
  /**
   * Hands over what comes as it comes, without a promise for each, while `take` wants more.
   * Resolves when `next` is to be asked again; rejects with the reason to end.
   */
  follow?(take: (frames: Uint8Array) => boolean): Promise<void>;
  /** Aborts, with the reason, when it is over while the caller takes nothing. */
  readonly cut: AbortSignal;
  close(): void;
}

type OutputStream<Output extends DescMessage> = Feed | AsyncIterable<MessageShape<Output>>;

type HandlerOf<Method> = Method extends {
  readonly methodKind: infer Kind;
  readonly input: infer Input extends DescMessage;
  readonly output: infer Output extends DescMessage;
}
  ? Kind extends "unary"
    ? (request: MessageShape<Input>, call: GrpcCall) => Promise<MessageShape<Output>>
    : Kind extends "server_streaming"
      ? (request: MessageShape<Input>, call: GrpcCall) => OutputStream<Output>
      : Kind extends "bidi_streaming"
        ? (requests: AsyncIterable<MessageShape<Input>>, call: GrpcCall) => OutputStream<Output>
        : never
  : never;

export type Handlers<Service extends Pick<DescService, "method">> = {
  readonly [Name in keyof Service["method"]]: HandlerOf<Service["method"][Name]>;
};

/** Bounds of the methods of a service, by their names here (`createTask`). */
export interface ServiceLimits<Service extends Pick<DescService, "method">> {
  /** The size of a message by method, where it is not `messageBytes`. */
  readonly bytes?: { readonly [Name in keyof Service["method"]]?: number };
}

/** Counts the calls of one method. */
export interface Meter {
  served(): void;
  /** Of calls that have one answer: how long it took. */
  took(elapsedMs: number): void;
}
