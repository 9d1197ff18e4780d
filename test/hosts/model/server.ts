/**
 * A model on loopback, which real coding agents take for their own. It speaks the wires that they
 * speak; what it says is in plan.ts.
 *
 *   POST /v1/messages           Anthropic's (Claude Code)
 *   POST /v1/responses          OpenAI's newer one (Codex)
 *   POST /v1/chat/completions   OpenAI's older one (OpenCode, Pi, Qwen Code)
 *   POST …:streamGenerateContent   Gemini's (Gemini CLI)
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
// tidy-allow sleep: a model that thinks takes real time
import { setTimeout as pause } from "node:timers/promises";
import { anthropic } from "./anthropic.ts";
import { chat } from "./chat.ts";
import { gemini } from "./gemini.ts";
import type { Answer, Turn } from "./plan.ts";
import { answerTo } from "./plan.ts";
import { responses } from "./responses.ts";

/** What a wire is, to the model: a request becomes a turn, and an answer the events of a stream. */
export interface ModelWire {
  turnOf(body: unknown): Turn;
  /** Each as a server-sent event; a number is a pause in milliseconds. */
  stream(answer: Exclude<Answer, { kind: "failure" }>, model: string): Iterable<Chunk>;
}

export type Chunk = number | { readonly event?: string; readonly data: unknown };

const WIRES: Readonly<Record<string, ModelWire>> = {
  "/v1/messages": anthropic,
  "/v1/responses": responses,
  "/v1/chat/completions": chat,
};

function wireAt(path: string): ModelWire | undefined {
  return path.endsWith(":streamGenerateContent") ? gemini : WIRES[path];
}

export interface Model extends Disposable {
  readonly url: string;
  /** Prompts that it failed at once, and will not again. */
  readonly failed: ReadonlySet<string>;
}

export async function startModel(): Promise<Model> {
  const failed = new Set<string>();
  const server = createServer((request, response) => {
    const wire = wireAt((request.url ?? "").split("?")[0] ?? "");
    if (!wire) return refuse(response, 404);
    const answerOf = (body: unknown) => answerTo(wire.turnOf(body), failed);
    serve({ wire, answerOf, request, response }).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    failed,
    [Symbol.dispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface Exchange {
  readonly wire: ModelWire;
  readonly answerOf: (body: unknown) => Answer;
  readonly request: AsyncIterable<Uint8Array>;
  readonly response: ServerResponse;
}

async function serve({ wire, answerOf, request, response }: Exchange): Promise<void> {
  const body = JSON.parse(await text(request)) as { readonly model?: string };
  const answer = answerOf(body);
  if (answer.kind === "failure") return refuse(response, answer.status);
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const chunk of wire.stream(answer, body.model ?? "mock")) {
    if (response.destroyed) return;
    if (typeof chunk === "number") await pause(chunk);
    else {
      const name = chunk.event === undefined ? "" : `event: ${chunk.event}\n`;
      const data = typeof chunk.data === "string" ? chunk.data : JSON.stringify(chunk.data);
      response.write(`${name}data: ${data}\n\n`);
    }
  }
  response.end();
}

function refuse(response: ServerResponse, status: number): void {
  const error = { type: "invalid_request_error", message: "the model fails as told" };
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ type: "error", error }));
}
