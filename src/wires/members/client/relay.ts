/** A member's end of a relayed connection: frames to the leader, frames and the ending back. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { By } from "../../../core/by.ts";
import { RollcallError } from "../../../core/errors.ts";
import type { GrpcChannel } from "../../../net/grpc/client-channel.ts";
import type { Conversation } from "../../../net/grpc/client-conversation.ts";
import {
  MemberService,
  RelayRequestSchema,
  RelayResponseSchema,
} from "../gen/rollcall/members/v1/members_pb.ts";
import { MEMBER_WIRE } from "../limits.ts";
import { callerText } from "../messages.ts";
import type { RelayEnding } from "../server/relay.ts";

const { parent, name } = MemberService.method.relay;

/** The caller as this member knows it, or why it is not let in. */
export type RelayTerms = { readonly by: By } | { readonly refusal: RollcallError };

export async function openRelay(channel: GrpcChannel, terms: RelayTerms): Promise<MemberRelay> {
  const path = `/${parent.typeName}/${name}`;
  const timeoutMs = MEMBER_WIRE.greetMs;
  const relay = new MemberRelay(await channel.converse({ path, timeoutMs, isBackground: true }));
  relay.begin(terms);
  return relay;
}

export class MemberRelay {
  readonly #conversation: Conversation;

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
  }

  begin(terms: RelayTerms): void {
    const opening =
      "by" in terms
        ? { byJson: callerText(terms.by) }
        : { refusalCode: terms.refusal.code, refusalMessage: terms.refusal.message };
    this.#conversation.send(toBinary(RelayRequestSchema, create(RelayRequestSchema, { opening })));
  }

  send(frame: string): void {
    const message = create(RelayRequestSchema, { frames: [frame] });
    this.#conversation.send(toBinary(RelayRequestSchema, message));
  }

  /** Whether the leader is behind: who sends should wait for `onDrained`. */
  get isFull(): boolean {
    return this.#conversation.waitingBytes > MEMBER_WIRE.relayWaitingBytes;
  }

  onDrained(tell: () => void): void {
    this.#conversation.onDrained(tell);
  }

  /** The frames of the leader, a few at a time; returns how it ended. Rejects when it broke. */
  async *frames(): AsyncGenerator<readonly string[], RelayEnding | undefined> {
    for (;;) {
      const bytes = await this.#conversation.next();
      if (!bytes) return undefined;
      const { frames, ending } = fromBinary(RelayResponseSchema, bytes);
      if (frames.length > 0) yield frames;
      if (ending) return { code: ending.code, reason: ending.reason };
    }
  }

  /** The client is gone. Idempotent. */
  close(): void {
    this.#conversation.cancel(new RollcallError("CANCELLED", "the client is gone"));
  }
}
