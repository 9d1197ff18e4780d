/**
 * The standard reflection service: tools such as grpcurl learn from it what can be called, without
 * having the proto. It answers from the very descriptors that encode the messages.
 */
import {
  create,
  createRegistry,
  toBinary,
  type DescFile,
  type DescService,
  type MessageInitShape,
  type Registry,
} from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { wireCodes, type ErrorCode } from "../../core/errors.ts";
import type { Handlers } from "./service.ts";
import {
  ServerReflection,
  ServerReflectionResponseSchema,
  type ServerReflectionRequest,
  type ServerReflectionResponse,
} from "./gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as OldReflection } from "./gen/grpc/reflection/v1alpha/reflection_pb.ts";

/** The names it goes by, the one in use first; on the wire they are the same. */
export const REFLECTION = [ServerReflection, OldReflection] as const;

type ReflectionResponse = NonNullable<
  MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"]
>;

export function reflectionOf(services: readonly DescService[]): Handlers<typeof ServerReflection> {
  const reflection = new Reflection(services);
  return {
    serverReflectionInfo: (requests) => reflection.converse(requests),
  };
}

class Reflection {
  readonly #services: readonly DescService[];
  readonly #files = new Map<string, DescFile>();
  readonly #types: Registry;

  constructor(services: readonly DescService[]) {
    this.#services = services;
    for (const { file } of services) this.#add(file);
    this.#types = createRegistry(...this.#files.values());
  }

  /** The next question is read when the last answer is taken. */
  async *converse(
    requests: AsyncIterable<ServerReflectionRequest>,
  ): AsyncGenerator<ServerReflectionResponse> {
    for await (const request of requests) {
      yield create(ServerReflectionResponseSchema, {
        validHost: request.host,
        originalRequest: request,
        messageResponse: this.#answer(request.messageRequest),
      });
    }
  }

  #answer(question: ServerReflectionRequest["messageRequest"]): ReflectionResponse {
    switch (question.case) {
      case "listServices": {
        const service = this.#services.map(({ typeName: name }) => ({ name }));
        return { case: "listServicesResponse", value: { service } };
      }
      case "fileByFilename":
        return filesOf(this.#files.get(question.value), `file ${question.value}`);
      case "fileContainingSymbol":
        return filesOf(this.#fileOf(question.value), `symbol ${question.value}`);
      case "fileContainingExtension":
        return notFound("this server has no extensions");
      case "allExtensionNumbersOfType": {
        if (this.#types.getMessage(question.value)) {
          const value = { baseTypeName: question.value };
          return { case: "allExtensionNumbersResponse", value };
        }
        return notFound(`no message ${question.value}`);
      }
      case undefined:
        return failure("INVALID_ARGUMENT", "message_request is not set");
    }
  }

  /** A method, a field or a value is found by what it is in. */
  #fileOf(symbol: string): DescFile | undefined {
    const types = this.#types;
    const found = types.get(symbol) ?? types.get(symbol.slice(0, symbol.lastIndexOf(".")));
    return found?.file;
  }

  #add(file: DescFile): void {
    const name = file.proto.name;
    if (this.#files.has(name)) return;
    this.#files.set(name, file);
    for (const imported of file.dependencies) this.#add(imported);
  }
}

/** The file and everything it imports: what a tool needs to make sense of it. */
function filesOf(file: DescFile | undefined, what: string): ReflectionResponse {
  if (!file) return notFound(`no ${what}`);
  const needed = new Set<DescFile>();
  const need = (each: DescFile) => {
    if (needed.has(each)) return;
    needed.add(each);
    for (const imported of each.dependencies) need(imported);
  };
  need(file);
  const fileDescriptorProto = [...needed].map(({ proto }) =>
    toBinary(FileDescriptorProtoSchema, proto),
  );
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto } };
}

function notFound(errorMessage: string): ReflectionResponse {
  return failure("NOT_FOUND", errorMessage);
}

function failure(code: ErrorCode, errorMessage: string): ReflectionResponse {
  const errorCode = wireCodes(code).grpc;
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}
