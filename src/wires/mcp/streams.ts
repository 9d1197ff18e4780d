/**
 * Answers that go on: bodies of `Response`s that are written while the client reads. What a client
 * does not read waits here, up to a bound; then the client is cut, and what it asked for ends. All
 * that waits is counted with the other answers of the process, with what the socket has of it.
 */
import { KIB } from "../../core/units.ts";
import type { Waiter, WaitingBytes } from "../../net/waiting.ts";
import { MCP } from "./limits.ts";

const EVENTS = { "content-type": "text/event-stream; charset=utf-8" } as const;

const ENCODER = new TextEncoder();

const UNREAD = { highWaterMark: MCP.unreadBytes, size: (chunk: Uint8Array) => chunk.byteLength };

/** The answer of Node below a stream, as far as it matters here. */
export interface NodeAnswer {
  /** What it has, and its client has not taken. */
  readonly writableLength: number;
  on(event: "drain" | "close", call: () => void): unknown;
}

/** Where a stream is counted; a test may leave it out. */
export interface StreamRoom {
  readonly answers?: WaitingBytes | undefined;
  readonly outgoing?: NodeAnswer | undefined;
}

/** A socket takes so much at once, and tells nothing of it. */
const UNTOLD_BYTES = 64 * KIB;

export class EventStream implements Waiter {
  readonly response: Response;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  readonly #onEnd: () => void;
  readonly #room: StreamRoom;
  #counting: NodeJS.Immediate | undefined;

  /** `onEnd` is called once, whichever side ends it. */
  constructor(onEnd: () => void, room: StreamRoom = {}) {
    this.#onEnd = onEnd;
    this.#room = room;
    room.outgoing?.on("drain", () => this.#countSoon());
    room.outgoing?.on("close", () => this.#over());
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#countSoon(),
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
    this.#countSoon();
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

  /** Others need the room that this one takes. */
  cut(): void {
    this.fail(new Error("the client does not read"));
  }

  /** When what was written, or taken, has come to the socket. */
  #countSoon(): void {
    if (this.#room.answers) this.#counting ??= setImmediate(() => this.#count());
  }

  #count(): void {
    this.#counting = undefined;
    const { answers, outgoing } = this.#room;
    if (!this.#controller) return;
    const queued = MCP.unreadBytes - (this.#controller.desiredSize ?? MCP.unreadBytes);
    const bytes = queued + (outgoing?.writableLength ?? 0);
    if (bytes > UNTOLD_BYTES) answers?.hold(this, bytes);
    else answers?.release(this);
  }

  #over(): void {
    if (!this.#controller) return;
    this.#controller = undefined;
    clearImmediate(this.#counting);
    this.#room.answers?.release(this);
    this.#onEnd();
  }
}

/** A stream of somebody else's making, under the same bound; `onEnd` is called once. */
export function boundedResponse(
  response: Response,
  onEnd: () => void,
  room: StreamRoom = {},
): Response {
  const { body, status, headers } = response;
  if (!body || !headers.get("content-type")?.startsWith("text/event-stream")) {
    onEnd();
    return response;
  }
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const copy = new EventStream(() => {
    void reader.cancel().catch(() => undefined);
    onEnd();
  }, room);
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
