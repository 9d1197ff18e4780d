/** For tests: a client that is not ours. It wants a service of the proto in its own terms. */
import {
  fromBinary,
  toBinary,
  type DescMethod,
  type DescService,
  type Message,
} from "@bufbuild/protobuf";
import type { MethodDefinition, ServiceDefinition } from "@grpc/grpc-js";

/** `name` calls it by another full name: the same messages, an older path. */
export function definitionOf(service: DescService, name = service.typeName): ServiceDefinition {
  const methods = service.methods.map((method) => [method.name, methodOf(method, name)] as const);
  return Object.fromEntries(methods);
}

function methodOf(method: DescMethod, service: string): MethodDefinition<Message, Message> {
  const { input, output, methodKind } = method;
  return {
    path: `/${service}/${method.name}`,
    requestStream: methodKind === "client_streaming" || methodKind === "bidi_streaming",
    responseStream: methodKind === "server_streaming" || methodKind === "bidi_streaming",
    requestSerialize: (message) => Buffer.from(toBinary(input, message)),
    requestDeserialize: (bytes) => fromBinary(input, bytes),
    responseSerialize: (message) => Buffer.from(toBinary(output, message)),
    responseDeserialize: (bytes) => fromBinary(output, bytes),
  };
}
