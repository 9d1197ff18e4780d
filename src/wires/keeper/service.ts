/**
 * What a service of this wire is, whatever carries it: a function per method of the proto. Answers
 * are messages; streams are feeds of messages that are bytes already.
 */
import type { DescMessage, DescService, MessageShape } from "@bufbuild/protobuf";
import type { EventFeed } from "./event-feed.ts";

/** One call, beside its request. */
export interface Call {
  /** Aborts when nobody waits for the answer any more: cancelled, disconnected, too late. */
  readonly signal: AbortSignal;
  /** What the caller sent along under this name. */
  header(name: string): string | undefined;
  /** Sends something along with the answer. */
  tell(name: string, value: string): void;
}

type HandlerOf<Method> = Method extends {
  readonly methodKind: "unary";
  readonly input: infer Input extends DescMessage;
  readonly output: infer Output extends DescMessage;
}
  ? (request: MessageShape<Input>, call: Call) => Promise<MessageShape<Output>>
  : Method extends {
        readonly methodKind: "server_streaming";
        readonly input: infer Input extends DescMessage;
      }
    ? (request: MessageShape<Input>, call: Call) => EventFeed
    : never;

export type Handlers<Service extends Pick<DescService, "method">> = {
  readonly [Name in keyof Service["method"]]: HandlerOf<Service["method"][Name]>;
};

/** Counts the calls of one method. */
export interface Meter {
  served(): void;
  /** Of calls that have one answer: how long it took. */
  took(elapsedMs: number): void;
}
