/**
 * The checks of every HTTP request and every upgrade before its body is read, cheapest first:
 *
 *   shape ─▶ rate of the peer ─▶ size announced ─▶ is it a web page? ─▶ who is it?
 */
import type { IncomingMessage } from "node:http";
import { RollcallError } from "../core/errors.ts";
import type { By } from "../core/by.ts";
import {
  byOfCall,
  peerOf,
  type Authenticator,
  type Caller,
  type Peer,
} from "../identity/caller.ts";
import { bodyTooLarge } from "./body.ts";
import { checkBrowser } from "./browsers.ts";
import type { HttpLimits } from "./limits.ts";
import { isLoopback } from "../net/loopback.ts";
import type { Rate } from "../core/rate.ts";

export interface GateOptions {
  readonly authenticator: Authenticator;
  /** Of each peer. */
  readonly rate: Rate;
  readonly monotonicMs: () => number;
  readonly limits: HttpLimits;
  /** The values of Host that are ours; known once the door is bound. */
  readonly hosts: () => ReadonlySet<string>;
  /** The other end of the connection; a test puts a stranger in its place. */
  readonly peerOf?: (request: IncomingMessage) => Peer;
}

/** Says when the bucket of the peer has something again. */
export class TooOften extends RollcallError {
  readonly retryAfterSeconds: number;

  constructor(waitMs: number) {
    super("LIMIT_EXCEEDED", "too many requests from this address; see rate_limit");
    this.retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  }
}

export class Gate {
  readonly #options: GateOptions;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** The caller of an admitted request; throws the reason for a refusal. */
  admit(request: IncomingMessage): By | Promise<By> {
    const { authenticator, rate, hosts, monotonicMs } = this.#options;
    const peer = this.#options.peerOf?.(request) ?? peerOf(request.socket);
    const nowMs = monotonicMs();
    const bucket = bucketOf(peer);
    if (!rate.take(bucket, nowMs)) throw new TooOften(rate.waitMs(bucket, nowMs));
    this.#checkShape(request);
    if (!peer.isOwnSocket) checkBrowser(request, hosts());
    const call: Caller = {
      peer,
      header: (name) => {
        const value = request.headers[name];
        return Array.isArray(value) ? value.join(", ") : value;
      },
    };
    const admitted = authenticator.authenticate(call);
    if (!(admitted instanceof Promise)) return byOfCall(call, admitted, "http");
    return admitted.then((principal) => byOfCall(call, principal, "http"));
  }

  #checkShape({ url, headers, rawHeaders }: IncomingMessage): void {
    const { limits } = this.#options;
    if (!url?.startsWith("/")) {
      throw new RollcallError("INVALID_ARGUMENT", "the request target is not a path");
    }
    if (rawHeaders.length / 2 > limits.headers) {
      throw new RollcallError("TOO_LARGE", `more than ${limits.headers} headers`);
    }
    if (Number(headers["content-length"] ?? 0) > limits.bodyBytes)
      throw bodyTooLarge(limits.bodyBytes);
  }
}

/** Every address of the loopback range is this machine. */
function bucketOf({ address }: Peer): string {
  return address === undefined || isLoopback(address) ? "" : address;
}
