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

  /** `onEnd` is called once, whoever ends it. */
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
  write(frame: string): boolean {
    const controller = this.#controller;
    if (!controller) return false;
    controller.enqueue(ENCODER.encode(frame));
    if ((controller.desiredSize ?? 0) > 0) return true;
    controller.error(new Error("the client does not read"));
    this.#over();
    return false;
  }

  /** Idempotent. */
  end(): void {
    this.#controller?.close();
    this.#over();
  }

  #over(): void {
    if (!this.#controller) return;
    this.#controller = undefined;
    this.#onEnd();
  }
}

/** A stream of somebody else's making, under the same bound; `onEnd` is called once. */
export function bounded(response: Response, onEnd: () => void): Response {
  const { body, status, headers } = response;
  if (!body || !headers.get("content-type")?.startsWith("text/event-stream")) {
    onEnd();
    return response;
  }
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const over = once(onEnd);
  const copy = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        void pump(reader, controller).finally(over);
      },
      async cancel(reason) {
        over();
        await reader.cancel(reason);
      },
    },
    UNREAD,
  );
  return new Response(copy, { status, headers });
}

async function pump(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  controller: ReadableStreamDefaultController<Uint8Array>,
): Promise<void> {
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      controller.enqueue(next.value);
      if ((controller.desiredSize ?? 0) <= 0) throw new Error("the client does not read");
    }
    controller.close();
  } catch (error) {
    await reader.cancel(error).catch(() => undefined);
    fail(controller, error);
  }
}

/** A stream that was cancelled meanwhile cannot fail as well. */
function fail(controller: ReadableStreamDefaultController<Uint8Array>, error: unknown): void {
  try {
    controller.error(error);
  } catch {
    // It is over already.
  }
}

function once(call: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    call();
  };
}
