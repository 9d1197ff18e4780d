/** A caller with a token of its own, at every door of a daemon: what a person or a program is. */
import type {
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
  DescMessage,
} from "@bufbuild/protobuf";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Client as GrpcClient, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import type { Client as McpClient } from "@modelcontextprotocol/client";
import type { Role } from "../../src/core/principals.ts";
import { ArcpClient } from "../../src/wires/arcp/client/client.ts";
import type { Resumption } from "../../src/wires/arcp/client/types.ts";
import { FROM_SEQUENCE } from "../../src/wires/keeper/server/metadata.ts";
import { mcpClient } from "./asking.ts";

/** Where its doors are. */
interface Daemon {
  readonly url: string;
  readonly grpcAddress: string;
}

export interface HttpReply {
  readonly status: number;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export class Person implements AsyncDisposable {
  readonly #daemon: Daemon;
  readonly #secret: string;
  readonly #grpc: GrpcClient;
  readonly #closing: (() => unknown)[] = [];

  private constructor(daemon: Daemon, secret: string) {
    this.#daemon = daemon;
    this.#secret = secret;
    this.#grpc = new GrpcClient(daemon.grpcAddress, credentials.createInsecure());
    this.#closing.push(() => this.#grpc.close());
  }

  /** The user that runs the daemon makes the token. */
  static async with(daemon: Daemon, name: string, role: Role): Promise<Person> {
    const answer = await fetch(`${daemon.url}/v1/tokens/create`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name, role }),
    });
    const { secret } = (await answer.json()) as { readonly secret: string };
    return new Person(daemon, secret);
  }

  get token(): string {
    return this.#secret;
  }

  async get(path: string): Promise<HttpReply> {
    const headers = { authorization: `Bearer ${this.#secret}` };
    return replyOf(await fetch(this.#daemon.url + path, { headers }));
  }

  async post(path: string, body: object): Promise<HttpReply> {
    const headers = {
      authorization: `Bearer ${this.#secret}`,
      "content-type": "application/json",
    };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    return replyOf(await fetch(this.#daemon.url + path, init));
  }

  call<In extends DescMessage, Out extends DescMessage>(
    method: DescMethodUnary<In, Out>,
    message: MessageInitShape<In>,
  ): Promise<MessageShape<Out>> {
    return new Promise((resolve, reject) => {
      this.#grpc.makeUnaryRequest(
        `/${method.parent.typeName}/${method.name}`,
        (value: MessageShape<In>) => Buffer.from(toBinary(method.input, value)),
        (bytes: Buffer) => fromBinary(method.output, bytes),
        create(method.input, message),
        this.#metadata(),
        (error: ServiceError | null, answer?: MessageShape<Out>) =>
          answer ? resolve(answer) : reject(error ?? new Error("no answer")),
      );
    });
  }

  /** A stream of gRPC, from the first event on: all bytes that it has heard so far, as text. */
  watch<In extends DescMessage, Out extends DescMessage>(
    method: DescMethodServerStreaming<In, Out>,
    message: MessageInitShape<In>,
  ): { heard: string } {
    const stream = { heard: "" };
    const call = this.#grpc.makeServerStreamRequest(
      `/${method.parent.typeName}/${method.name}`,
      (value: MessageShape<In>) => Buffer.from(toBinary(method.input, value)),
      (bytes: Buffer) => bytes,
      create(method.input, message),
      this.#metadata({ [FROM_SEQUENCE]: "0" }),
    );
    call.on("data", (bytes: Buffer) => (stream.heard += bytes.toString("latin1")));
    call.on("error", () => undefined);
    this.#closing.push(() => call.cancel());
    return stream;
  }

  #metadata(more: Readonly<Record<string, string>> = {}): Metadata {
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${this.#secret}`);
    for (const [name, value] of Object.entries(more)) metadata.set(name, value);
    return metadata;
  }

  async arcp(resume?: Resumption): Promise<ArcpClient> {
    const url = `${this.#daemon.url.replace("http", "ws")}/arcp`;
    const options = { token: this.#secret, ...(resume && { resume }) };
    const client = await ArcpClient.connect(url, options);
    this.#closing.push(() => client.close());
    return client;
  }

  async mcp(): Promise<McpClient> {
    const { url, grpcAddress } = this.#daemon;
    const client = await mcpClient({ url, grpcAddress, token: this.#secret });
    if (!client) throw new Error("not let in");
    this.#closing.push(() => client.close());
    return client;
  }

  /** A stream of server-sent events: all that it has heard so far. */
  async stream(path: string): Promise<{ heard: string }> {
    const abort = new AbortController();
    this.#closing.push(() => abort.abort());
    const headers = { authorization: `Bearer ${this.#secret}`, accept: "text/event-stream" };
    const answer = await fetch(this.#daemon.url + path, { headers, signal: abort.signal });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`);
    const stream = { heard: "" };
    const read = async () => {
      for await (const bytes of answer.body ?? []) stream.heard += Buffer.from(bytes).toString();
    };
    read().catch(() => undefined);
    return stream;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#closing.splice(0).reverse()) await close();
  }
}

async function replyOf(answer: Response): Promise<HttpReply> {
  const text = await answer.text();
  return { status: answer.status, text, body: JSON.parse(text) as HttpReply["body"] };
}
