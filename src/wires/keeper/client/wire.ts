/** Shared by all handles: the calls, the clock, and the handles to close before the end. */
import type {
  DescMessage,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import { AGENT_KEY } from "../../../core/by.ts";
import { RollcallError } from "../../../core/errors.ts";
import type { Clock } from "../../../core/clock.ts";
import {
  callUnary,
  openStream,
  type GrpcReplies,
  type GrpcReply,
} from "../../../net/grpc/client.ts";
import type { ChannelCallOptions, GrpcChannel } from "../../../net/grpc/client-channel.ts";
import { LeaseHoldings } from "./holdings.ts";
import { isRepeatable } from "./retries.ts";

/** The options of every call. */
export interface KeeperCallOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long to wait for the answer, a daemon that is away included. */
  readonly timeoutMs?: number | undefined;
}

interface WireCallOptions extends KeeperCallOptions {
  readonly metadata?: ChannelCallOptions["metadata"];
  readonly isBackground?: boolean;
  /** It waits as long as it takes. */
  readonly isPatient?: boolean;
}

/** A handle that lives until it is closed. */
export interface Closable {
  close(): Promise<void>;
}

export interface WireOptions {
  readonly channel: GrpcChannel;
  readonly clock: Clock;
  readonly random: () => number;
  readonly timeoutMs: number;
}

export class KeeperWire {
  readonly clock: Clock;
  readonly random: () => number;
  readonly holdings = new LeaseHoldings();
  /** The keys of the agents that were registered here: every call for one of them has its key. */
  readonly agentKeys = new Map<string, string>();
  readonly #channel: GrpcChannel;
  readonly #timeoutMs: number;
  readonly #agents = new Set<Closable>();
  readonly #works = new Set<Closable>();
  readonly #closing = new AbortController();

  constructor(options: WireOptions) {
    this.clock = options.clock;
    this.random = options.random;
    this.#channel = options.channel;
    this.#timeoutMs = options.timeoutMs;
  }

  async call<Input extends DescMessage, Output extends DescMessage>(
    method: DescMethodUnary<Input, Output>,
    message: MessageInitShape<Input>,
    options: WireCallOptions = {},
  ): Promise<MessageShape<Output>> {
    return (await this.ask(method, message, options)).message;
  }

  /** Like `call`, with what came along. */
  ask<Input extends DescMessage, Output extends DescMessage>(
    method: DescMethodUnary<Input, Output>,
    message: MessageInitShape<Input>,
    options: WireCallOptions = {},
  ): Promise<GrpcReply<Output>> {
    const { isPatient = false, ...rest } = options;
    return callUnary(this.#channel, method, {
      ...rest,
      metadata: this.#metadataOf(message, rest.metadata),
      timeoutMs: isPatient ? undefined : (rest.timeoutMs ?? this.#timeoutMs),
      isRepeatable: isRepeatable(method.localName),
      message,
    });
  }

  open<Input extends DescMessage, Output extends DescMessage>(
    method: DescMethodServerStreaming<Input, Output>,
    message: MessageInitShape<Input>,
    options: WireCallOptions = {},
  ): Promise<GrpcReplies<Output>> {
    const { isPatient = false, ...rest } = options;
    return openStream(this.#channel, method, {
      ...rest,
      timeoutMs: isPatient ? undefined : (rest.timeoutMs ?? this.#timeoutMs),
      isRepeatable: isRepeatable(method.localName),
      message,
    });
  }

  #metadataOf(message: object, given: WireCallOptions["metadata"]): WireCallOptions["metadata"] {
    const agentId: unknown = "agentId" in message && message.agentId;
    const key = typeof agentId === "string" ? this.agentKeys.get(agentId) : undefined;
    return key === undefined ? given : { ...given, [AGENT_KEY]: key };
  }

  /** Keeps the process alive until the returned function is called. */
  hold(): () => void {
    return this.#channel.hold();
  }

  /** It is closed before the connection is, unless it was closed before. */
  adopt(living: Closable, kind: "agent" | "work" = "work"): void {
    (kind === "agent" ? this.#agents : this.#works).add(living);
  }

  dismiss(living: Closable): void {
    this.#agents.delete(living);
    this.#works.delete(living);
  }

  /** Aborts when the end begins: no new call is made. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Handles of agents close before the agents; so do those that were opened meanwhile. */
  async close(): Promise<void> {
    this.#closing.abort(new RollcallError("CANCELLED", "this client is closed"));
    for (const living of [this.#works, this.#agents]) {
      while (living.size > 0) await Promise.all(Array.from(living, (each) => each.close()));
    }
    this.#channel.close();
  }
}
