/**
 * Answers that go on: bodies of `Response`s that are written while the client reads. What a client
 * does not read waits here, up to a bound; then the client is cut, and what it asked for ends.
 */
import { MCP } from "./limits.ts";

const EVENTS = { "content-type": "text/event-stream; charset=utf-8" } as const;

const ENCODER = new TextEncoder();

const UNREAD = { highWaterMark: MCP.unreadBytes, size: (chunk: Uint8Array) => chunk.byteLength };

export class EventStream {
  readonly response: Response;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  readonly #onEnd: () => void;

  /** `onEnd` is called once, whichever side ends it. */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        cancel: () => this.#over(),
      },
      UNREAD,
    );
    this.response = new Response(body, { headers: EVENTS });
  }

  get isOver(): boolean {
    return this.#controller === undefined;
  }

  /** False when there is nobody to take it. */
  write(frame: string | Uint8Array): boolean {
    const controller = this.#controller;
    if (!controller) return false;
    controller.enqueue(typeof frame === "string" ? ENCODER.encode(frame) : frame);
    if ((controller.desiredSize ?? 0) > 0) return true;
    this.fail(new Error("the client does not read"));
    return false;
  }

  /** Idempotent. */
  end(): void {
    this.#controller?.close();
    this.#over();
  }

  fail(error: unknown): void {
    this.#controller?.error(error);
    this.#over();
  }

  #over(): void {
    if (!this.#controller) return;
    this.#controller = undefined;
    this.#onEnd();
  }
}

/** A stream of somebody else's making, under the same bound; `onEnd` is called once. */
export function boundedResponse(response: Response, onEnd: () => void): Response {
  const { body, status, headers } = response;
  if (!body || !headers.get("content-type")?.startsWith("text/event-stream")) {
    onEnd();
    return response;
  }
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const copy = new EventStream(() => {
    void reader.cancel().catch(() => undefined);
    onEnd();
  });
  void forward(reader, copy);
  return new Response(copy.response.body, { status, headers });
}

async function forward(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  copy: EventStream,
): Promise<void> {
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (!copy.write(next.value)) return;
    }
    copy.end();
  } catch (error) {
    copy.fail(error);
  }
}
