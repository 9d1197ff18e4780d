/** For tests of streams: a client that keeps what it hears, and reads only when it is told to. */
import { once } from "node:events";
import { get, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";

export interface Message {
  readonly id: string;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export class Listener {
  readonly response: IncomingMessage;
  text = "";
  isEnded = false;

  constructor(response: IncomingMessage) {
    this.response = response;
    response.setEncoding("utf8").on("data", (chunk: string) => (this.text += chunk));
    response.on("end", () => (this.isEnded = true)).on("error", () => undefined);
  }

  /** In the order they came; without what only shows that the stream lives. */
  get messages(): readonly Message[] {
    const blocks = this.text.split("\n\n").slice(0, -1);
    return blocks.map(parse).filter(({ event }) => event !== "");
  }
}

function parse(block: string): Message {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1] ?? "";
  const data = field("data");
  return {
    id: field("id"),
    event: field("event"),
    data: data === "" ? {} : (JSON.parse(data) as Message["data"]),
  };
}

/** Resolves with the head of the answer, whatever it is. */
export async function listen(
  port: number,
  path: string,
  headers: OutgoingHttpHeaders = {},
): Promise<Listener> {
  const request = get({
    host: "127.0.0.1",
    port,
    path,
    headers: { accept: "text/event-stream", ...headers },
    agent: false,
  });
  request.on("error", () => undefined);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return new Listener(response);
}
