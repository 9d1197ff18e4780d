/**
 * How a member asks the one that leads, over gRPC. The address of a node comes from the log, where
 * it wrote it when it joined; there is one connection to each. A leader that cannot be reached is
 * told at once: the engine knows whether another leads by now.
 */
import type { By } from "../../../core/by.ts";
import { RollcallError } from "../../../core/errors.ts";
import type { Command, ReplyTo } from "../../../core/rules.ts";
import type { BeatBatch, Forwarded, Forwarder } from "../../../engine/forward.ts";
import type { Timers } from "../../../machine/waiting.ts";
import { callUnary } from "../../../net/grpc/client.ts";
import { GrpcChannel } from "../../../net/grpc/client-channel.ts";
import type { ServerTrust } from "../../../net/tls/trust.ts";
import { MemberService } from "../gen/rollcall/members/v1/members_pb.ts";
import { MEMBER_CLIENT, MEMBER_WIRE } from "../limits.ts";
import { callerText } from "../messages.ts";
import type { Greeting } from "../server/service.ts";
import { openRelay, type MemberRelay, type RelayTerms } from "./relay.ts";

const { execute, barrier, beat, greet, stepDown } = MemberService.method;

export interface MemberClientOptions {
  /** HOST:PORT of a member; undefined where it is not known. */
  readonly addressOf: (node: string) => string | undefined;
  readonly timers: Timers;
  /** This node's certificate and the authority of all; absent: connections are plain. */
  readonly trust?: (() => ServerTrust) | undefined;
}

export class MemberClient implements Forwarder {
  readonly #options: MemberClientOptions;
  /** By address, the one used longest ago first. */
  readonly #channels = new Map<string, GrpcChannel>();
  /** With an older certificate, each until its calls are over; how to end it now. */
  readonly #former = new Set<() => void>();

  constructor(options: MemberClientOptions) {
    this.#options = options;
  }

  // oxlint-disable-next-line max-params -- the interface is the engine's
  async execute<C extends Command>(
    leader: string,
    command: C,
    by: By,
    signal?: AbortSignal,
  ): Promise<Forwarded<C>> {
    const { message } = await callUnary(this.#channel(leader), execute, {
      message: { commandJson: JSON.stringify(command), byJson: callerText(by) },
      timeoutMs: MEMBER_WIRE.executeMs,
      signal,
      failsFast: true,
    });
    const reply = JSON.parse(message.replyJson) as ReplyTo<C>;
    return { reply, head: Number(message.head) };
  }

  async barrier(leader: string, signal?: AbortSignal): Promise<number> {
    const timeoutMs = MEMBER_WIRE.barrierMs;
    const how = { message: {}, timeoutMs, signal, failsFast: true };
    const { message } = await callUnary(this.#channel(leader), barrier, how);
    return Number(message.head);
  }

  async beat(leader: string, batch: BeatBatch): Promise<readonly string[]> {
    const { agentIds, unboundAgentIds } = batch;
    const { message } = await callUnary(this.#channel(leader), beat, {
      message: { ...batch, agentIds: [...agentIds], unboundAgentIds: [...unboundAgentIds] },
      timeoutMs: MEMBER_WIRE.beatMs,
      failsFast: true,
      isBackground: true,
    });
    return message.refusedAgentIds;
  }

  /** Which node answers at an address. */
  async greet(address: string): Promise<Greeting> {
    const timeoutMs = MEMBER_WIRE.greetMs;
    const how = { message: {}, timeoutMs, failsFast: true };
    const { message } = await callUnary(this.#channelTo(address), greet, how);
    const { node, instance, logId, mode, head, version } = message;
    return { node, instance, logId, mode, head: Number(head), version };
  }

  async stepDown(leader: string, by: By): Promise<void> {
    await callUnary(this.#channel(leader), stepDown, {
      message: { byJson: callerText(by) },
      timeoutMs: MEMBER_WIRE.executeMs,
      failsFast: true,
    });
  }

  relay(leader: string, terms: RelayTerms): Promise<MemberRelay> {
    return openRelay(this.#channel(leader), terms);
  }

  /** New connections from here on: the certificate is another one. Calls under way go on. */
  renew(): void {
    for (const channel of this.#channels.values()) {
      const end = () => {
        cancel();
        this.#former.delete(end);
        channel.close();
      };
      const cancel = this.#options.timers.after(MEMBER_WIRE.executeMs, end);
      this.#former.add(end);
    }
    this.#channels.clear();
  }

  /** Idempotent; ends every call. */
  close(): void {
    for (const channel of this.#channels.values()) channel.close();
    this.#channels.clear();
    for (const end of this.#former) end();
  }

  #channel(node: string): GrpcChannel {
    const address = this.#options.addressOf(node);
    if (address !== undefined) return this.#channelTo(address);
    throw new RollcallError("UNAVAILABLE", `node ${node} cannot be reached: no address is known`);
  }

  #channelTo(address: string): GrpcChannel {
    const { timers, trust } = this.#options;
    const channel =
      this.#channels.get(address) ??
      new GrpcChannel({ address, timers, trust: trust?.(), limits: MEMBER_CLIENT });
    this.#channels.delete(address);
    this.#channels.set(address, channel);
    const [oldest] = this.#channels;
    if (oldest && this.#channels.size > MEMBER_WIRE.channels) {
      oldest[1].close();
      this.#channels.delete(oldest[0]);
    }
    return channel;
  }
}
