/**
 * One call on the server's side, from its headers to its trailers.
 *
 *   headers ──▶ open ──▶ answered      once, by the first of
 *                 │                    the handler, its failure, the deadline
 *                 └──▶ gone            cancelled, disconnected
 *
 * One is made for every heartbeat of every agent, so what few calls need is made when asked for.
 */
import type { Socket } from "node:net";
import { byOf, type By } from "../../core/by.ts";
import { invalidArgument, RollcallError } from "../../core/errors.ts";
import { NOBODY } from "../../core/principals.ts";
import { encoded } from "../http2/hpack.ts";
import type { Stream } from "../http2/stream.ts";
import type { CutReason, Waiter, WaitingLimits } from "../waiting.ts";
import type { GrpcCall } from "./service.ts";
import { grpcStatusOf, trailersOf, type GrpcStatus } from "./status.ts";
import { parseTimeout } from "./timeout.ts";

/** The longest delay of a timer, and longer than any call lives. */
const LONGEST_MS = 2 ** 31 - 1;

const HEADERS = [
  [":status", "200"],
  ["content-type", "application/grpc"],
] as const;
/** The same bytes for nearly all calls. */
const OK_HEADERS = encoded(HEADERS);
const OK_TRAILERS = encoded([["grpc-status", "0"]]);

const STRANGER = byOf(NOBODY, "grpc");

export class ServerCall implements GrpcCall, Waiter {
  readonly stream: Stream;
  /** Known once it was admitted, which is before any handler sees it. */
  by: By = STRANGER;
  #abort: AbortController | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #told: [string, string][] | undefined;
  #admission: Promise<void> | undefined;
  #isBegun = false;
  #isAnswered = false;
  /** Called when nothing more comes or goes. */
  onClose: (() => void) | undefined;

  constructor(stream: Stream) {
    this.stream = stream;
    stream.onClose = () => {
      clearTimeout(this.#deadline);
      this.#giveUp("CANCELLED", GONE);
      this.onClose?.();
    };
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.isOver) this.#giveUp("CANCELLED", GONE);
    return this.#abort.signal;
  }

  /** Whether nothing can be sent any more. */
  get isOver(): boolean {
    return this.#isAnswered || this.stream.isClosed;
  }

  get socket(): Socket {
    return this.stream.socket;
  }

  header(name: string): string | undefined {
    return this.stream.headers.get(name);
  }

  headerNames(): Iterable<string> {
    return this.stream.headers.keys();
  }

  tell(name: string, value: string): void {
    this.#told ??= [];
    this.#told.push([name, value]);
  }

  /** Takes the caller, now or when it is known; one that is not let in is told so. */
  admit(by: By | Promise<By>): void {
    if (by instanceof Promise) this.#admission = this.#admitLater(by);
    else this.#admitted(by);
  }

  async #admitLater(by: Promise<By>): Promise<void> {
    try {
      this.#admitted(await by);
    } catch (error) {
      this.fail(grpcStatusOf(error));
    }
  }

  #admitted(by: By): void {
    this.by = by;
    this.#admission = undefined;
    this.stream.welcome();
  }

  /** Calls when its caller was let in, at once where that is so already; else never. */
  whenAdmitted(then: () => void): void {
    if (!this.#admission) return then();
    void this.#admission.then(() => {
      if (!this.isOver) then();
    });
  }

  /** Its request does not come whole, or holds too much. */
  cut(reason: CutReason, { bytes, ms }: WaitingLimits): void {
    const error =
      reason === "late"
        ? new RollcallError("DEADLINE_EXCEEDED", `the request did not come within ${ms} ms`)
        : new RollcallError(
            "LIMIT_EXCEEDED",
            `requests that are still coming hold more than ${bytes} bytes`,
          );
    this.fail(grpcStatusOf(error));
  }

  /** From here on the caller's patience counts, if it said how long that is. */
  startDeadline(): void {
    const timeout = this.header("grpc-timeout");
    if (timeout === undefined) return;
    const ms = parseTimeout(timeout);
    if (ms === undefined) {
      throw invalidArgument("grpc-timeout is not a duration");
    }
    this.#deadline = setTimeout(() => this.#expire(), Math.min(ms, LONGEST_MS));
  }

  /** Sends what there is to say before the first message of a stream. */
  begin(): void {
    if (this.#isBegun || this.isOver) return;
    this.#isBegun = true;
    this.stream.respond(this.#headers());
  }

  /** The one answer, framed. */
  answer(frame: Buffer): void {
    if (this.isOver) return;
    this.#isAnswered = true;
    this.stream.answer({ headers: this.#headers(), data: frame, trailers: OK_TRAILERS });
  }

  /** The end of a stream that came to one. */
  end(): void {
    if (this.isOver) return;
    this.begin();
    this.#isAnswered = true;
    this.stream.end(OK_TRAILERS);
  }

  fail(status: GrpcStatus): void {
    if (this.isOver) return;
    this.#isAnswered = true;
    const trailers = Object.entries(trailersOf(status));
    if (this.#isBegun) this.stream.end(encoded(trailers));
    else this.stream.endWith(encoded([...HEADERS, ...(this.#told ?? []), ...trailers]));
  }

  /** After this long the stream is let go of, whether everything was taken or not. */
  endWithin(ms: number): void {
    if (this.stream.isClosed) return;
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.stream.reset(), ms);
  }

  #headers(): Buffer {
    return this.#told ? encoded([...HEADERS, ...this.#told]) : OK_HEADERS;
  }

  #expire(): void {
    const message = "the time the caller gave for the answer is over";
    this.#giveUp("DEADLINE_EXCEEDED", message);
    this.fail(grpcStatusOf(new RollcallError("DEADLINE_EXCEEDED", message)));
  }

  #giveUp(code: "CANCELLED" | "DEADLINE_EXCEEDED", message: string): void {
    if (!this.#abort?.signal.aborted) this.#abort?.abort(new RollcallError(code, message));
  }
}

const GONE = "the caller went away";
