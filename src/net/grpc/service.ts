/**
 * What a gRPC service is to whoever writes one: a function per method of the proto, with no idea of
 * how calls are carried. Answers are messages; streams are messages as they come, or, where many
 * are sent the same, feeds of bytes.
 */
import type { DescMessage, DescService, MessageShape } from "@bufbuild/protobuf";

/** One call, beside its request. */
export interface Call {
  /** Aborts when nobody waits for the answer any more: cancelled, disconnected, too late. */
  readonly signal: AbortSignal;
  /** What the caller sent along under this name. */
  header(name: string): string | undefined;
  /** Sends something along with the answer. */
  tell(name: string, value: string): void;
}

/**
 * A stream as bytes for the asking, so that what a thousand callers are sent is made once. It is
 * asked for more when the caller has taken what there was.
 */
export interface Feed {
  /** One or more messages, framed; nothing when it is over. Rejects with the reason to end. */
  next(): Promise<Uint8Array | undefined>;
  /** Aborts, with the reason, when it is over while the caller takes nothing. */
  readonly cut: AbortSignal;
  close(): void;
}

type Stream<Output extends DescMessage> = Feed | AsyncIterable<MessageShape<Output>>;

type HandlerOf<Method> = Method extends {
  readonly methodKind: infer Kind;
  readonly input: infer Input extends DescMessage;
  readonly output: infer Output extends DescMessage;
}
  ? Kind extends "unary"
    ? (request: MessageShape<Input>, call: Call) => Promise<MessageShape<Output>>
    : Kind extends "server_streaming"
      ? (request: MessageShape<Input>, call: Call) => Stream<Output>
      : Kind extends "bidi_streaming"
        ? (requests: AsyncIterable<MessageShape<Input>>, call: Call) => Stream<Output>
        : never
  : never;

export type Handlers<Service extends Pick<DescService, "method">> = {
  readonly [Name in keyof Service["method"]]: HandlerOf<Service["method"][Name]>;
};

/** Bounds of the methods of a service, by their names here (`createTask`). */
export interface ServiceLimits<Service extends Pick<DescService, "method">> {
  /** What a message to a method may weigh, where that is not what `messageBytes` says. */
  readonly bytes?: { readonly [Name in keyof Service["method"]]?: number };
}

/** Counts the calls of one method. */
export interface Meter {
  served(): void;
  /** Of calls that have one answer: how long it took. */
  took(elapsedMs: number): void;
}
