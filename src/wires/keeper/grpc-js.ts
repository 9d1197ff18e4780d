/**
 * The services of this wire on grpc-js: the only file here that knows how calls are carried. It
 * turns what was thrown into a status, what is cancelled into an abort, and pulls from a feed only
 * when the client has taken what was written.
 */
import type { DescService, Message } from "@bufbuild/protobuf";
import {
  Metadata,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { codeOf, RollcallError } from "../../core/errors.ts";
import type { EventFeed } from "./event-feed.ts";
import type { Call, Handlers, Meter } from "./service.ts";
import { grpcStatusOf, type GrpcStatus } from "../../grpc/status.ts";

export interface CarryOptions {
  readonly meterOf: (path: string) => Meter;
  /** A call met a fault of this program. */
  readonly onFault: (path: string, error: unknown) => void;
}

type UnaryHandler = (request: Message, call: Call) => Promise<Message>;
type FeedHandler = (request: Message, call: Call) => EventFeed;
type UnaryCall = ServerUnaryCall<Message, Message>;
type FeedCall = ServerWritableStream<Message, Uint8Array>;

export function implementationOf<Service extends DescService>(
  service: Service,
  handlers: Handlers<Service>,
  options: CarryOptions,
): UntypedServiceImplementation {
  const byName: Readonly<Record<string, unknown>> = handlers;
  const methods = service.methods.map(({ name, localName, methodKind }) => {
    const path = `/${service.typeName}/${name}`;
    const carrier = new Carrier(path, options);
    const handler = byName[localName];
    const carry =
      methodKind === "unary"
        ? carrier.unary(handler as UnaryHandler)
        : carrier.feed(handler as FeedHandler);
    return [name, carry] as const;
  });
  return Object.fromEntries(methods);
}

class Carrier {
  readonly #path: string;
  readonly #options: CarryOptions;
  readonly #meter: Meter;

  constructor(path: string, options: CarryOptions) {
    this.#path = path;
    this.#options = options;
    this.#meter = options.meterOf(path);
  }

  unary(handler: UnaryHandler) {
    return async (call: UnaryCall, reply: sendUnaryData<Message>): Promise<void> => {
      const startedMs = performance.now();
      this.#meter.served();
      const carried = new CarriedCall(call);
      try {
        const answer = await handler(call.request, carried);
        reply(null, answer, carried.told);
      } catch (error) {
        reply(this.#statusOf(error));
      }
      this.#meter.took(performance.now() - startedMs);
    };
  }

  feed(handler: FeedHandler) {
    return async (call: FeedCall): Promise<void> => {
      this.#meter.served();
      const carried = new CarriedCall(call);
      let feed: EventFeed | undefined;
      try {
        feed = handler(call.request, carried);
        call.on("cancelled", () => feed?.close());
        // At once: whoever has it knows that nothing is missed from here on.
        call.sendMetadata(carried.told ?? new Metadata());
        await pour(feed, call);
      } catch (error) {
        if (!call.cancelled) call.emit("error", this.#statusOf(error));
      } finally {
        feed?.close();
      }
    };
  }

  #statusOf(error: unknown): GrpcStatus {
    if (codeOf(error) === "INTERNAL") this.#options.onFault(this.#path, error);
    return grpcStatusOf(error);
  }
}

/** Made for every call, so what few of them need is made on demand. */
class CarriedCall implements Call {
  readonly #call: UnaryCall | FeedCall;
  #abort: AbortController | undefined;
  told: Metadata | undefined;

  constructor(call: UnaryCall | FeedCall) {
    this.#call = call;
  }

  get signal(): AbortSignal {
    if (!this.#abort) {
      const abort = new AbortController();
      const isGone = () => abort.abort(new RollcallError("CANCELLED", "the caller went away"));
      if (this.#call.cancelled) isGone();
      else this.#call.on("cancelled", isGone);
      this.#abort = abort;
    }
    return this.#abort.signal;
  }

  header(name: string): string | undefined {
    return this.#call.metadata.get(name)[0]?.toString();
  }

  tell(name: string, value: string): void {
    this.told ??= new Metadata();
    this.told.set(name, value);
  }
}

/** Until the feed throws why it ended, or the call is cancelled. */
async function pour(feed: EventFeed, call: FeedCall): Promise<void> {
  for (;;) {
    // A watcher that is cut is told up to where it was served: it gets all that was pulled for it.
    for (const bytes of await feed.next()) {
      if (call.cancelled) return;
      if (!call.write(bytes)) await drained(call, feed.cut);
    }
  }
}

/** Resolves when the client has taken what was written, or there is no more to wait for. */
function drained(call: FeedCall, cut: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      call.off("drain", settle);
      call.off("close", settle);
      cut.removeEventListener("abort", settle);
      resolve();
    };
    call.on("drain", settle);
    call.on("close", settle);
    cut.addEventListener("abort", settle);
    if (cut.aborted || call.destroyed) settle();
  });
}
