/**
 * Asks a daemon, by every wire it has, whether a caller may make a call: the call is made, with as
 * little in it as possible, and all that counts is whether it is refused for want of permission.
 */
import { request } from "node:http";
import { connect, type ClientHttp2Session } from "node:http2";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { WebSocket } from "ws";
import type { ClientMessage } from "../../src/wires/arcp/codec/messages.ts";
import type { HttpCall } from "./served.ts";

/** Whether a call is allowed, by the name that the call has in the table. */
export type Answers = ReadonlyMap<string, boolean>;

export interface Target {
  readonly url: string;
  readonly grpcAddress: string;
  /** The bearer token of the caller; empty for none. */
  readonly token: string;
}

function presented({ token }: Target): Readonly<Record<string, string>> {
  return token === "" ? {} : { authorization: `Bearer ${token}` };
}

/** The codes of HTTP and of gRPC that stand for "who are you" and "you may not". */
const REFUSED_HTTP = [401, 403];
const REFUSED_GRPC = ["7", "16"];

export async function askHttp(target: Target, calls: readonly HttpCall[]): Promise<Answers> {
  const asked = calls.map(async (call) => [nameOf(call), await mayCall(target, call)] as const);
  return new Map(await Promise.all(asked));
}

function nameOf({ method, path, isLive = false }: HttpCall): string {
  return `${isLive ? "LIVE" : method} ${path}`;
}

/** `:taskId` is any text. */
function exampleOf(path: string): string {
  return path.replaceAll(/:\w+|\*/g, "x");
}

function mayCall(target: Target, { method, path, isLive }: HttpCall): Promise<boolean> {
  const isUpgrade = method === "UPGRADE";
  const headers = {
    ...presented(target),
    ...(isLive && { accept: "text/event-stream" }),
    ...(isUpgrade && {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
      "sec-websocket-version": "13",
    }),
    ...(method === "POST" && { "content-type": "application/json" }),
  };
  const to = target.url + exampleOf(path);
  return new Promise((resolve, reject) => {
    const asked = request(to, { method: isUpgrade ? "GET" : method, headers }, (answer) => {
      resolve(!REFUSED_HTTP.includes(answer.statusCode ?? 0));
      // A stream would go on for ever.
      answer.destroy();
    });
    asked.on("upgrade", (_, socket) => {
      resolve(true);
      socket.destroy();
    });
    asked.on("error", reject);
    asked.end(method === "POST" ? "{}" : undefined);
  });
}

export async function askGrpc(target: Target, paths: readonly string[]): Promise<Answers> {
  const session = connect(`http://${target.grpcAddress}`);
  try {
    const asked = paths.map(
      async (path) => [`gRPC ${path}`, await mayInvoke(session, target, path)] as const,
    );
    return new Map(await Promise.all(asked));
  } finally {
    session.destroy();
  }
}

function mayInvoke(session: ClientHttp2Session, target: Target, path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      ...presented(target),
    });
    const hear = ({ "grpc-status": status }: Readonly<Record<string, unknown>>) =>
      resolve(!REFUSED_GRPC.includes(String(status)));
    // A stream that begins has nothing to say yet: its status comes with its end.
    stream.on("response", (headers) => {
      if (headers["grpc-status"] !== undefined || path.includes("Watch")) {
        hear(headers);
        stream.close();
      }
    });
    stream.on("trailers", hear).on("error", reject).resume();
    // One message with nothing in it.
    stream.end(Buffer.alloc(5));
  });
}

export interface McpSurface {
  readonly tools: readonly string[];
  readonly resources: readonly string[];
}

/** Nothing where the caller is not let in at all. */
export async function mcpClient(target: Target): Promise<Client | undefined> {
  const client = new Client({ name: "a test", version: "1" });
  const requestInit = { headers: presented(target) };
  try {
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${target.url}/mcp`), { requestInit }),
    );
    return client;
  } catch {
    return undefined;
  }
}

export async function askMcp(target: Target, surface: McpSurface): Promise<Answers> {
  const client = await mcpClient(target);
  const answers = new Map<string, boolean>();
  for (const name of surface.tools) {
    const result = await client?.callTool({ name, arguments: {} });
    answers.set(`MCP ${name}`, result !== undefined && !isDenied(result));
  }
  for (const uri of surface.resources) {
    const read = client?.readResource({ uri });
    const outcome = await (read?.catch(String) ?? "PERMISSION_DENIED");
    const subscribed = await (client?.subscribeResource({ uri }).catch(String) ?? "");
    answers.set(`MCP ${uri}`, !isDenied(outcome) && !isDenied(subscribed));
  }
  const listed = (await client?.listTools())?.tools.map(({ name }) => name) ?? [];
  for (const name of surface.tools) {
    if (listed.includes(name) !== answers.get(`MCP ${name}`)) {
      throw new Error(`${name} is listed to a caller that may not call it, or the other way round`);
    }
  }
  await client?.close();
  return answers;
}

function isDenied(value: unknown): boolean {
  return /PERMISSION_DENIED|may not/.test(JSON.stringify(value));
}

/** A message that is not here does not compile. */
const MESSAGES: Readonly<Record<ClientMessage["type"], object>> = {
  "session.hello": {},
  "session.ping": { nonce: "n", sent_at: "2026-11-15T10:00:00Z" },
  "session.pong": { ping_nonce: "n", received_at: "2026-11-15T10:00:00Z" },
  "session.ack": { last_processed_seq: 0 },
  "session.list_jobs": {},
  "job.submit": { agent: "nobody" },
  "job.cancel": { job_id: "job_01KZ4TA000000000000000000C" },
  "job.subscribe": { job_id: "job_01KZ4TA000000000000000000C" },
  "job.unsubscribe": { job_id: "job_01KZ4TA000000000000000000C" },
  "x-vendor": {},
  "session.bye": {},
  "session.close": {},
};

export async function askArcp(target: Target): Promise<Answers> {
  const { url, token } = target;
  const socket = new WebSocket(`${url.replace("http", "ws")}/arcp`, {
    headers: presented(target),
  });
  const frames = new Frames(socket);
  const isOpen = await frames.opened;
  const hello = {
    client: { name: "a test", version: "1" },
    auth: { scheme: "bearer", token: token || "anonymous" },
    capabilities: { encodings: ["json"], features: ["list_jobs", "subscribe"] },
  };
  const answers = new Map<string, boolean>();
  const isWelcome = isOpen && !isDenied(await frames.ask("session.hello", hello));
  answers.set("ARCP session.hello", isWelcome);
  for (const [type, payload] of Object.entries(MESSAGES)) {
    if (type === "session.hello") continue;
    const isSent = isWelcome && socket.readyState === WebSocket.OPEN;
    const said = isSent ? await frames.ask(type, payload) : undefined;
    answers.set(`ARCP ${type}`, isWelcome && !isDenied(said));
  }
  socket.terminate();
  return answers;
}

/** Sends a frame and a ping behind it: what comes before the pong is the answer. */
class Frames {
  readonly #socket: WebSocket;
  readonly opened: Promise<boolean>;
  #heard: string[] = [];
  #settle: () => void = () => undefined;
  #asked = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    this.opened = new Promise((resolve) => {
      socket.on("open", () => resolve(true));
      socket.on("error", () => resolve(false));
    });
    socket.on("message", (data: Buffer) => {
      this.#heard.push(data.toString());
      if (data.includes(`nonce-${this.#asked}`) || data.includes("session.welcome")) this.#settle();
    });
    socket.on("close", () => this.#settle());
  }

  async ask(type: string, payload: object): Promise<readonly string[]> {
    this.#asked += 1;
    this.#heard = [];
    const settled = new Promise<void>((resolve) => (this.#settle = resolve));
    this.#send(type, payload);
    if (type !== "session.hello") {
      this.#send("session.ping", {
        nonce: `nonce-${this.#asked}`,
        sent_at: "2026-11-15T10:00:00Z",
      });
    }
    await settled;
    return this.#heard;
  }

  #send(type: string, payload: object): void {
    const id = `msg_${this.#asked}_${type}`;
    const name = type === "x-vendor" ? "x-vendor.acme.note" : type;
    this.#socket.send(JSON.stringify({ arcp: "1.1", id, type: name, payload }));
  }
}

/** Which kinds of events, of what other principals did, a watcher is told of. */
export async function askWatch(target: Target, kinds: readonly string[]): Promise<Answers> {
  const headers = { ...presented(target), accept: "text/event-stream" };
  const answer = await fetch(`${target.url}/v1/events?from=0`, { headers });
  const heard = answer.ok ? await textUpTo(answer, "event: bookmark") : "";
  await answer.body?.cancel().catch(() => undefined);
  const isTold = (kind: string) => heard.includes(`"topic":"${kind}.`);
  return new Map(kinds.map((kind) => [`WATCH ${kind} of others`, isTold(kind)]));
}

async function textUpTo(answer: Response, end: string): Promise<string> {
  let text = "";
  for await (const bytes of answer.body ?? []) {
    text += Buffer.from(bytes).toString();
    if (text.includes(end)) break;
  }
  return text;
}
