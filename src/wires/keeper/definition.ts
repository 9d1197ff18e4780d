/** A service of the proto, as grpc-js wants it: paths, and how messages become bytes and back. */
import {
  fromBinary,
  toBinary,
  type DescMethod,
  type DescService,
  type Message,
} from "@bufbuild/protobuf";
import type { MethodDefinition, ServiceDefinition } from "@grpc/grpc-js";

/** `name` serves it under another full name: the same messages, an older path. */
export function definitionOf(service: DescService, name = service.typeName): ServiceDefinition {
  const methods = service.methods.map((method) => [method.name, methodOf(method, name)] as const);
  return Object.fromEntries(methods);
}

/** Answers that are bytes already go as they are: an event is encoded once for all watchers. */
function methodOf(
  method: DescMethod,
  service: string,
): MethodDefinition<Message, Message | Uint8Array> {
  const { input, output, methodKind } = method;
  return {
    path: `/${service}/${method.name}`,
    requestStream: methodKind === "client_streaming" || methodKind === "bidi_streaming",
    responseStream: methodKind === "server_streaming" || methodKind === "bidi_streaming",
    requestSerialize: (message) => viewOf(toBinary(input, message)),
    requestDeserialize: (bytes) => fromBinary(input, bytes),
    responseSerialize: (answer) =>
      viewOf(answer instanceof Uint8Array ? answer : toBinary(output, answer)),
    responseDeserialize: (bytes) => fromBinary(output, bytes),
  };
}

/** The same bytes, not a copy of them. */
function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
