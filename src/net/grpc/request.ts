/**
 * The one request of a call: gathered as it comes, counted while it is incomplete, decoded when all
 * of it is there, and used when its caller is let in and there is room for the answer.
 *
 * One is made for every heartbeat of every agent: nearly all come in one piece, and cost no more.
 */
import type { Message } from "@bufbuild/protobuf";
import { invalidArgument } from "../../core/errors.ts";
import { KIB } from "../../core/units.ts";
import type { DataReceiver } from "../http2/stream.ts";
import type { WaitingBytes } from "../waiting.ts";
import { FrameReader, onlyMessage } from "./frames.ts";
import type { ServerCall } from "./server-call.ts";

/** The memory of an open call beside its message: its stream and its headers, about. */
const CALL_BYTES = 4 * KIB;

/** The same for all calls of a method. */
export interface RequestReader {
  /** The size limit of one message. */
  readonly maxBytes: number;
  /** Counts requests that have not come whole. */
  readonly requests: WaitingBytes;
  /** Throws where the bytes are no such message. */
  decoded(message: Buffer): Message;
  fail(call: ServerCall, error: unknown): void;
}

export class CallRequest implements DataReceiver {
  readonly #call: ServerCall;
  readonly #reader: RequestReader;
  readonly #use: (request: Message) => Promise<void>;
  #frames: FrameReader | undefined;
  #message: Buffer | undefined;
  #isOver = false;

  constructor(call: ServerCall, reader: RequestReader, use: (request: Message) => Promise<void>) {
    this.#call = call;
    this.#reader = reader;
    this.#use = use;
    reader.requests.hold(call, CALL_BYTES);
    call.onClose = () => this.#release();
  }

  data(chunk: Buffer, isLast: boolean): void {
    const call = this.#call;
    if (this.#isOver || call.isOver) return;
    call.stream.consumed(chunk.length);
    try {
      this.#take(chunk);
      if (isLast) return;
      // The rest may take its time.
      this.#message &&= Buffer.from(this.#message);
      const bytes = (this.#frames?.keptBytes ?? 0) + (this.#message?.length ?? 0);
      this.#reader.requests.hold(call, CALL_BYTES + bytes);
    } catch (error) {
      this.#fail(error);
    }
  }

  #take(chunk: Buffer): void {
    const only = this.#frames ? undefined : onlyMessage(chunk, this.#reader.maxBytes);
    if (only) return this.#found(only);
    this.#frames ??= new FrameReader(this.#reader.maxBytes);
    for (const each of this.#frames.push(chunk)) this.#found(each);
  }

  #found(message: Buffer): void {
    if (this.#message) throw invalidArgument("more than one message");
    this.#message = message;
  }

  end(): void {
    const call = this.#call;
    // A caller that is gone wants no answer, and its request may be incomplete.
    if (this.#isOver || call.isOver) return;
    try {
      if (!this.#message || this.#frames?.isBetweenMessages === false) {
        throw invalidArgument("the call ended without a whole message");
      }
      const request = this.#reader.decoded(this.#message);
      call.whenAdmitted(() =>
        call.stream.whenRoom(() => {
          this.#release();
          void this.#use(request);
        }),
      );
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#release();
    this.#reader.fail(this.#call, error);
  }

  #release(): void {
    this.#isOver = true;
    this.#reader.requests.release(this.#call);
  }
}
