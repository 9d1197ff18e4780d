/**
 * A body, read to its end or to a limit, whichever comes first. One that says how long it is was
 * checked at the gate, and Node reads no more of it than was said.
 */
import type { IncomingMessage } from "node:http";
import { invalidArgument, RollcallError } from "../core/errors.ts";
import { GatheredBytes } from "../net/gathered-bytes.ts";
import type { CutReason, WaitingBytes } from "../net/waiting.ts";
import { chunksOf } from "./fine-chunks.ts";

/** So many pieces may be small; beyond it they must have the least on average. */
const SMALL_PIECES = 4_096;
const LEAST_PIECE_BYTES = 64;

export function bodyTooLarge(maxBytes: number): RollcallError {
  return new RollcallError("TOO_LARGE", `the body has more than ${maxBytes} bytes`);
}

export interface BodyLimits {
  readonly maxBytes: number;
  /** Counts bodies that have not come whole. */
  readonly requests: WaitingBytes;
}

export interface BodyReader {
  readonly whole: (body: Buffer) => void;
  /** Called once, and then `whole` is not; also for what `whole` throws. */
  readonly failed: (error: unknown) => void;
}

const EMPTY = Buffer.alloc(0);

/** Without a promise, for those who are asked thousands of times a second. */
export function takeBody(
  request: IncomingMessage,
  limits: BodyLimits,
  { whole, failed }: BodyReader,
): void {
  const announced = Number(request.headers["content-length"]);
  let only: Buffer = EMPTY;
  let pieces: BodyPieces | undefined;
  let isOver = false;
  const fail = (error: unknown) => {
    isOver = true;
    pieces?.take();
    failed(error);
  };
  request.on("data", (chunk: Buffer) => {
    if (isOver) return;
    if (chunk.length === announced) only = chunk;
    else (pieces ??= new BodyPieces(limits, fail)).add(chunk, chunksOf(request));
  });
  request.on("end", () => {
    if (isOver) return;
    isOver = true;
    try {
      whole(pieces?.take() ?? only);
    } catch (error) {
      failed(error);
    }
  });
  request.on("close", () => {
    // An error costs more to make than everything else here.
    if (!isOver) fail(new RollcallError("CANCELLED", "the client went away"));
  });
}

/** A body that does not come in one piece. */
class BodyPieces {
  readonly #limits: BodyLimits;
  readonly #fail: (error: RollcallError) => void;
  readonly #body = new GatheredBytes();
  #pieces = 0;

  constructor(limits: BodyLimits, fail: (error: RollcallError) => void) {
    this.#limits = limits;
    this.#fail = fail;
  }

  /** `chunks`: so many came, of which some may be joined. */
  add(piece: Buffer, chunks = this.#pieces + 1): void {
    const { maxBytes, requests } = this.#limits;
    this.#pieces = chunks;
    const bytes = this.#body.length + piece.length;
    if (bytes > maxBytes) return this.#fail(bodyTooLarge(maxBytes));
    if (this.#pieces > SMALL_PIECES && bytes < this.#pieces * LEAST_PIECE_BYTES) {
      const message = `the body comes in pieces of less than ${LEAST_PIECE_BYTES} bytes`;
      return this.#fail(invalidArgument(message));
    }
    this.#body.push(piece);
    requests.hold(this, bytes);
  }

  take(): Buffer {
    this.#limits.requests.release(this);
    return this.#body.take();
  }

  cut(reason: CutReason): void {
    const message = "requests that are still coming hold too much";
    this.#fail(
      reason === "late"
        ? new RollcallError("DEADLINE_EXCEEDED", "the body did not come in time")
        : new RollcallError("LIMIT_EXCEEDED", message),
    );
  }
}

/** Rejects as soon as a limit is reached. */
export function readBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  return new Promise((whole, failed) => takeBody(request, limits, { whole, failed }));
}
