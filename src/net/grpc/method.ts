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
import { framed, FrameReader } from "./frames.ts";
import type { Gathering } from "./gathering.ts";
import type { ServerCall } from "./server-call.ts";
import type { Call, Feed, Meter } from "./service.ts";
import { grpcStatusOf, type FieldName } from "./status.ts";

export interface MethodOptions {
  /** The size limit of one message to it. */
  readonly maxBytes: number;
  /** How long a stream that was cut may take to read its last words. */
  readonly lastWordsMs: number;
  readonly meter: Meter;
  readonly gathering: Gathering;
  readonly fieldName: FieldName | undefined;
  /** A call met a fault of this program. */
  readonly onFault: (error: unknown) => void;
}

type Stream = Feed | AsyncIterable<Message>;

/** Serves the calls of one method. */
export type Serve = (call: ServerCall) => void;

export function serving(method: DescMethod, handler: unknown, options: MethodOptions): Serve {
  const served = new Method(method, options);
  switch (method.methodKind) {
    case "unary":
      return (call) =>
        served.unary(call, handler as (request: Message, call: Call) => Promise<Message>);
    case "server_streaming":
      return (call) => served.streaming(call, handler as (request: Message, call: Call) => Stream);
    case "bidi_streaming":
      return (call) =>
        served.conversing(
          call,
          handler as (requests: AsyncIterable<Message>, call: Call) => Stream,
        );
    case "client_streaming":
      throw new Error(`${method.name}: client streaming is not supported`);
  }
}

class Method {
  readonly #input: DescMessage;
  readonly #output: DescMessage;
  readonly #options: MethodOptions;

  constructor({ input, output }: DescMethod, options: MethodOptions) {
    this.#input = input;
    this.#output = output;
    this.#options = options;
  }

  unary(call: ServerCall, handler: (request: Message, call: Call) => Promise<Message>): void {
    const startedMs = performance.now();
    const { meter } = this.#options;
    meter.served();
    this.#gather(call, async (request) => {
      try {
        const answer = await handler(request, call);
        call.answer(framed(toBinary(this.#output, answer)));
      } catch (error) {
        this.#fail(call, error);
      }
      meter.took(performance.now() - startedMs);
    });
  }

  streaming(call: ServerCall, handler: (request: Message, call: Call) => Stream): void {
    this.#options.meter.served();
    this.#gather(call, (request) => this.#pour(call, () => handler(request, call)));
  }

  conversing(
    call: ServerCall,
    handler: (requests: AsyncIterable<Message>, call: Call) => Stream,
  ): void {
    this.#options.meter.served();
    void this.#pour(call, () => handler(this.#requests(call), call));
  }

  /** The one request of a call, when all of it has come. */
  #gather(call: ServerCall, use: (request: Message) => Promise<void>): void {
    const { stream } = call;
    const { gathering } = this.#options;
    const reader = new FrameReader(this.#options.maxBytes);
    let message: Buffer | undefined;
    let isOver = false;
    const end = () => {
      isOver = true;
      gathering.end(call);
    };
    const onData = (chunk: Buffer) => {
      if (isOver) return;
      stream.consumed(chunk.length);
      try {
        for (const each of reader.push(chunk)) {
          if (message) throw invalidArgument("more than one message");
          message = each;
        }
        if (!reader.isBetweenMessages) gathering.hold(call, chunk.length);
      } catch (error) {
        end();
        this.#fail(call, error);
      }
    };
    const onEnd = () => {
      end();
      // A caller that is gone wants no answer, and its request may be incomplete.
      if (call.isOver) return;
      try {
        if (!message || !reader.isBetweenMessages) {
          throw invalidArgument("the call ended without a whole message");
        }
        void use(this.#decoded(message));
      } catch (error) {
        this.#fail(call, error);
      }
    };
    gathering.begin(call, performance.now());
    call.onClose = end;
    stream.take({ data: onData, end: onEnd });
  }

  async *#requests(call: ServerCall): AsyncGenerator<Message> {
    const reader = new FrameReader(this.#options.maxBytes);
    for await (const chunk of chunksOf(call)) {
      for (const message of reader.push(chunk)) yield this.#decoded(message);
      call.stream.consumed(chunk.length);
    }
  }

  #decoded(message: Buffer): Message {
    try {
      return fromBinary(this.#input, message);
    } catch (cause) {
      throw invalidArgument(`the message is not a ${this.#input.typeName}`, cause);
    }
  }

  async #pour(call: ServerCall, open: () => Stream): Promise<void> {
    let feed: Feed | undefined;
    try {
      const opened = feedOf(open(), this.#output);
      feed = opened;
      const before = call.onClose;
      call.onClose = () => {
        before?.();
        opened.close();
      };
      // At once: whoever has it knows that nothing is missed from here on.
      call.begin();
      for (let frames = await feed.next(); frames; frames = await feed.next()) {
        if (call.isOver) return;
        if (!call.stream.write(frames)) await drained(call, feed.cut);
      }
      call.end();
    } catch (error) {
      this.#fail(call, error);
      // A caller that was cut off for not reading may never read why.
      call.endWithin(this.#options.lastWordsMs);
    } finally {
      feed?.close();
    }
  }

  #fail(call: ServerCall, error: unknown): void {
    // A failure because the caller went away is no fault.
    if (call.isOver) return;
    if (codeOf(error) === "INTERNAL") this.#options.onFault(error);
    call.fail(grpcStatusOf(error, this.#options.fieldName));
  }
}

/** The chunks as they arrive; flow control bounds how many are in flight. */
async function* chunksOf(call: ServerCall): AsyncGenerator<Buffer> {
  const chunks: Buffer[] = [];
  let wake: () => void = () => undefined;
  call.stream.take({
    data: (chunk) => {
      chunks.push(chunk);
      wake();
    },
    end: () => wake(),
  });
  call.signal.addEventListener("abort", () => wake());
  for (;;) {
    const chunk = chunks.shift();
    if (chunk) yield chunk;
    else if (call.stream.isRemoteEnded || call.isOver) return;
    else await new Promise<void>((woken) => (wake = woken));
  }
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

function feedOf(stream: Stream, output: DescMessage): Feed {
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
