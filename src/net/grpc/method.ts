/**
 * How a call of each kind is served: the request is gathered and decoded, the handler called, its
 * answer encoded. What is thrown on the way becomes the status; nothing a caller sends can throw
 * past it.
 */
import {
  fromBinary,
  toBinary,
  type DescMessage,
  type DescMethod,
  type Message,
} from "@bufbuild/protobuf";
import { codeOf, invalidArgument } from "../../core/errors.ts";
import { GatheredBytes } from "../gathered-bytes.ts";
import type { WaitingBytes } from "../waiting.ts";
import { framed, FrameReader } from "./frames.ts";
import type { ServerCall } from "./server-call.ts";
import { CallRequest, type RequestReader } from "./request.ts";
import type { GrpcCall, Feed, Meter } from "./service.ts";
import { grpcStatusOf, type FieldName } from "./status.ts";

export interface MethodOptions {
  /** The size limit of one message to it. */
  readonly maxBytes: number;
  /** How long a stream that was cut may take to read its last words. */
  readonly lastWordsMs: number;
  readonly meter: Meter;
  /** Counts requests that have not come whole. */
  readonly requests: WaitingBytes;
  readonly fieldName: FieldName | undefined;
  /** A call met a fault of this program. */
  readonly onFault: (error: unknown) => void;
}

type ReplyStream = Feed | AsyncIterable<Message>;

/** Serves the calls of one method. */
export type Serve = (call: ServerCall) => void;

export function serving(method: DescMethod, handler: unknown, options: MethodOptions): Serve {
  const served = new Method(method, options);
  switch (method.methodKind) {
    case "unary":
      return (call) =>
        served.unary(call, handler as (request: Message, call: GrpcCall) => Promise<Message>);
    case "server_streaming":
      return (call) =>
        served.streaming(call, handler as (request: Message, call: GrpcCall) => ReplyStream);
    case "bidi_streaming":
      return (call) =>
        served.conversing(
          call,
          handler as (requests: AsyncIterable<Message>, call: GrpcCall) => ReplyStream,
        );
    case "client_streaming":
      throw new Error(`${method.name}: client streaming is not supported`);
  }
}

class Method implements RequestReader {
  readonly #input: DescMessage;
  readonly #output: DescMessage;
  readonly #options: MethodOptions;

  constructor({ input, output }: DescMethod, options: MethodOptions) {
    this.#input = input;
    this.#output = output;
    this.#options = options;
  }

  get maxBytes(): number {
    return this.#options.maxBytes;
  }

  get requests(): WaitingBytes {
    return this.#options.requests;
  }

  unary(call: ServerCall, handler: (request: Message, call: GrpcCall) => Promise<Message>): void {
    const startedMs = performance.now();
    this.#options.meter.served();
    const use = async (request: Message) => {
      try {
        const answer = await handler(request, call);
        if (!call.isOver) call.answer(framed(toBinary(this.#output, answer)));
      } catch (error) {
        this.fail(call, error);
      }
      this.#options.meter.took(performance.now() - startedMs);
    };
    call.stream.take(new CallRequest(call, this, use));
  }

  streaming(call: ServerCall, handler: (request: Message, call: GrpcCall) => ReplyStream): void {
    this.#options.meter.served();
    const use = (request: Message) => this.#pour(call, () => handler(request, call));
    call.stream.take(new CallRequest(call, this, use));
  }

  conversing(
    call: ServerCall,
    handler: (requests: AsyncIterable<Message>, call: GrpcCall) => ReplyStream,
  ): void {
    this.#options.meter.served();
    const messages = this.#messages(call);
    call.whenAdmitted(() => void this.#pour(call, () => handler(messages, call)));
  }

  /** Takes what comes from here on, and not only when the first is asked for. */
  #messages(call: ServerCall): AsyncGenerator<Message> {
    const { maxBytes, requests } = this.#options;
    const reader = new FrameReader(maxBytes);
    const chunks = chunksOf(call, reader, requests);
    const decoded = (message: Buffer) => this.decoded(message);
    return (async function* () {
      for await (const chunk of chunks) {
        for (const message of reader.push(chunk)) yield decoded(message);
        call.stream.consumed(chunk.length);
      }
    })();
  }

  decoded(message: Buffer): Message {
    try {
      return fromBinary(this.#input, message);
    } catch (cause) {
      throw invalidArgument(`the message is not a ${this.#input.typeName}`, cause);
    }
  }

  async #pour(call: ServerCall, open: () => ReplyStream): Promise<void> {
    let feed: Feed | undefined;
    try {
      const opened = feedOf(open(), this.#output);
      feed = opened;
      const before = call.onClose;
      call.onClose = () => {
        before?.();
        opened.close();
      };
      // At once: the client then knows that it misses nothing from here on.
      call.begin();
      const write = (frames: Uint8Array) => call.stream.write(frames);
      for (let frames = await feed.next(); frames; frames = await feed.next()) {
        if (call.isOver) return;
        if (write(frames)) await feed.follow?.(write);
        if (!call.stream.hasRoom) await drained(call, feed.cut);
      }
      call.end();
    } catch (error) {
      this.fail(call, error);
      // A caller that was cut off for not reading may never read why.
      call.endWithin(this.#options.lastWordsMs);
    } finally {
      feed?.close();
    }
  }

  fail(call: ServerCall, error: unknown): void {
    // A failure because the caller went away is no fault.
    if (call.isOver) return;
    if (codeOf(error) === "INTERNAL") this.#options.onFault(error);
    call.fail(grpcStatusOf(error, this.#options.fieldName));
  }
}

/** The chunks as they arrive; flow control bounds how much of them is kept. */
function chunksOf(
  call: ServerCall,
  reader: FrameReader,
  requests: WaitingBytes,
): AsyncGenerator<Buffer> {
  const kept = new GatheredBytes();
  let wake: () => void = () => undefined;
  const count = () => {
    const bytes = kept.length + reader.keptBytes;
    if (bytes > 0) requests.hold(call, bytes);
    else requests.release(call);
  };
  call.stream.take({
    data: (chunk) => {
      kept.push(chunk);
      count();
      wake();
    },
    end: () => wake(),
  });
  call.onClose = () => {
    requests.release(call);
    wake();
  };
  return (async function* () {
    while (!call.isOver) {
      if (kept.length > 0) yield kept.take();
      else if (call.stream.isRemoteEnded) return;
      else {
        count();
        await new Promise<void>((woken) => (wake = woken));
      }
    }
  })();
}

/** Resolves when the caller has taken what was written, or there is no more to wait for. */
function drained(call: ServerCall, cut: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      call.stream.drained(undefined);
      cut.removeEventListener("abort", settle);
      call.signal.removeEventListener("abort", settle);
      resolve();
    };
    cut.addEventListener("abort", settle);
    call.signal.addEventListener("abort", settle);
    if (cut.aborted || call.isOver) settle();
    else call.stream.drained(settle);
  });
}

function feedOf(stream: ReplyStream, output: DescMessage): Feed {
  if (!(Symbol.asyncIterator in stream)) return stream;
  const messages = stream[Symbol.asyncIterator]();
  return {
    async next() {
      const next = await messages.next();
      return next.done ? undefined : framed(toBinary(output, next.value));
    },
    cut: NEVER,
    close: () => void messages.return?.(),
  };
}

const NEVER = new AbortController().signal;
