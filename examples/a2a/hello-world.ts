/** An agent that says "Hello World": it publishes its card, answers, and stays in a registry. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { RegistryClient, type AgentCard } from "rollcall/a2a";

export interface HelloWorld {
  /** Unless PORT is set. */
  readonly port: number;
  /** Where its generation publishes cards. */
  readonly cardPath: string;
  readonly cardAt: (origin: string) => AgentCard;
  /** The result of the JSON-RPC call with which its generation sends messages. */
  readonly reply: unknown;
}

export function serve({ port, cardPath, cardAt, reply }: HelloWorld): void {
  const server = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    if (request.method === "POST") {
      void answer(request, reply).then((text) => response.end(text));
    } else if (request.url === cardPath) response.end(JSON.stringify(cardAt(originOf())));
    else response.writeHead(404).end("{}");
  });
  const originOf = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.listen(Number(process.env["PORT"] ?? port), "127.0.0.1", () => {
    const registryUrl = process.env["REGISTRY_URL"] ?? "http://127.0.0.1:8000";
    const card = cardAt(originOf());
    console.log(`${card.name} at ${originOf()}`);
    new RegistryClient(card, {
      registryUrl,
      intervalS: 30,
      onHeartbeat: ({ verified }) => console.log(`heartbeat taken, verified: ${verified}`),
      onFailure: ({ message }) => console.log(`heartbeat failed: ${message}`),
    }).start();
  });
}

async function answer(request: IncomingMessage, result: unknown): Promise<string> {
  const { id = null } = (await json(request)) as { readonly id?: unknown };
  return JSON.stringify({ jsonrpc: "2.0", id, result });
}
