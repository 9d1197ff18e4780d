/** A daemon in this process behind its real doors, called by several principals by their tokens. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { DescMessage, DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import { startEmbedded, type Embedded } from "../../../src/embedded.ts";
import { systemClock } from "../../../src/machine/clock.ts";
import { callUnary, type GrpcReply } from "../../../src/net/grpc/client.ts";
import { GrpcChannel } from "../../../src/net/grpc/client-channel.ts";

export interface HttpReply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ToldEvent {
  readonly topic: string;
  readonly by?: { readonly principal: string; readonly wire: string; readonly peer: string };
  readonly [field: string]: unknown;
}

/** A principal; the first is the daemon's own user, who has no token. */
export class TestCaller {
  readonly #daemon: Embedded;
  readonly #channel: GrpcChannel;
  readonly secret: string | undefined;

  constructor(daemon: Embedded, secret?: string) {
    this.#daemon = daemon;
    this.secret = secret;
    this.#channel = new GrpcChannel({ address: daemon.grpcAddress, timers: systemClock });
  }

  get headers(): Record<string, string> {
    return this.secret === undefined ? {} : { authorization: `Bearer ${this.secret}` };
  }

  async http(path: string, body?: unknown): Promise<HttpReply> {
    const headers = { ...this.headers, "content-type": "application/json" };
    const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const answer = await fetch(this.#daemon.url + path, { headers, ...sent });
    return { status: answer.status, body: (await answer.json()) as HttpReply["body"] };
  }

  grpc<Input extends DescMessage, Output extends DescMessage>(
    method: DescMethodUnary<Input, Output>,
    message: MessageInitShape<Input>,
    metadata: Readonly<Record<string, string>> = {},
  ): Promise<GrpcReply<Output>> {
    const sent = { ...this.headers, ...metadata };
    return callUnary(this.#channel, method, { message, metadata: sent, timeoutMs: 10_000 });
  }

  async mcp(tool: string, args: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    const mode = { pin: "2026-07-28" } as const;
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
    const to = new URL(`${this.#daemon.url}/mcp`);
    await client.connect(
      new StreamableHTTPClientTransport(to, { requestInit: { headers: this.headers } }),
    );
    try {
      return await client.callTool({ name: tool, arguments: args });
    } finally {
      await client.close();
    }
  }

  /** All events so far of these topics, as the stream tells them. */
  async events(...topics: readonly string[]): Promise<readonly ToldEvent[]> {
    const query = ["from=0", ...topics.map((topic) => `topic=${topic}`)].join("&");
    const url = `${this.#daemon.url}/v1/events?${query}`;
    const leaving = new AbortController();
    const { body } = await fetch(url, { headers: this.headers, signal: leaving.signal });
    let text = "";
    for await (const bytes of body ?? []) {
      text += Buffer.from(bytes).toString();
      if (text.includes("event: bookmark")) break;
    }
    leaving.abort();
    const frames = Array.from(text.matchAll(/^data: (.*)$/gm), ([, json = ""]) => json);
    return frames.map((json) => JSON.parse(json) as ToldEvent).filter((each) => each.topic);
  }

  close(): void {
    this.#channel.close();
  }
}

export interface Callers extends AsyncDisposable {
  readonly daemon: Embedded;
  readonly local: TestCaller;
  /** A new principal, `token:NAME`. */
  token(name: string, role: string): Promise<TestCaller>;
}

export async function openCallers(): Promise<Callers> {
  const daemon = await startEmbedded();
  const local = new TestCaller(daemon);
  const all = [local];
  return {
    daemon,
    local,
    async token(name, role) {
      const { body } = await local.http("/v1/tokens/create", { name, role });
      const caller = new TestCaller(daemon, String(body["secret"]));
      all.push(caller);
      return caller;
    },
    async [Symbol.asyncDispose]() {
      for (const each of all) each.close();
      await daemon.close();
    },
  };
}
