/** Methods of a proto as functions: messages in and out, on a channel. */
import {
  create,
  fromBinary,
  toBinary,
  type DescMessage,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { errorText, invalidArgument, RollcallError } from "../../core/errors.ts";
import type { ChannelCallOptions, GrpcChannel } from "./client-channel.ts";

export interface GrpcReply<Output extends DescMessage> {
  readonly message: MessageShape<Output>;
  readonly header: (name: string) => string | undefined;
}

export interface GrpcReplies<Output extends DescMessage> extends AsyncIterable<
  MessageShape<Output>
> {
  readonly header: (name: string) => string | undefined;
}

export async function callUnary<Input extends DescMessage, Output extends DescMessage>(
  channel: GrpcChannel,
  method: DescMethodUnary<Input, Output>,
  request: ChannelCallOptions & { readonly message: MessageInitShape<Input> },
): Promise<GrpcReply<Output>> {
  const { message, ...options } = request;
  const body = encoded(method.input, message);
  const answer = await channel.call({ ...options, path: pathOf(method), body });
  return { message: decoded(method.output, answer.message), header: answer.header };
}

/** Resolves when the server has taken it. A reader that stops cancels it. */
export async function openStream<Input extends DescMessage, Output extends DescMessage>(
  channel: GrpcChannel,
  method: DescMethodServerStreaming<Input, Output>,
  request: ChannelCallOptions & { readonly message: MessageInitShape<Input> },
): Promise<GrpcReplies<Output>> {
  const { message, ...options } = request;
  const body = encoded(method.input, message);
  const stream = await channel.open({ ...options, path: pathOf(method), body });
  return {
    header: (name) => stream.header(name),
    async *[Symbol.asyncIterator]() {
      try {
        for (let bytes = await stream.next(); bytes; bytes = await stream.next()) {
          yield decoded(method.output, bytes);
        }
      } finally {
        stream.cancel(new RollcallError("CANCELLED", "the reader stopped before the stream ended"));
      }
    },
  };
}

function pathOf({ parent, name }: DescMethodUnary | DescMethodServerStreaming): string {
  return `/${parent.typeName}/${name}`;
}

function encoded<Input extends DescMessage>(
  schema: Input,
  message: MessageInitShape<Input>,
): Uint8Array {
  try {
    return toBinary(schema, create(schema, message));
  } catch (cause) {
    const why = errorText(cause);
    throw invalidArgument(why, cause);
  }
}

function decoded<Output extends DescMessage>(
  schema: Output,
  bytes: Uint8Array,
): MessageShape<Output> {
  try {
    return fromBinary(schema, bytes);
  } catch (cause) {
    const message = `the message is not a valid ${schema.typeName}`;
    throw new RollcallError("INTERNAL", message, { cause });
  }
}
