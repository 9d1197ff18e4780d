/**
 * The checks of every HTTP request and every upgrade before its body is read, cheapest first:
 *
 *   rate of another machine ─▶ shape, size announced ─▶ is it a web page? ─▶ who is it?
 *                                          ─▶ rate of the principal ─▶ its share of connections
 *
 * On this machine one user must not use up the rate of another, so only principals count: a caller
 * that is not let in costs no more than its refusal. Other machines are counted by their address
 * as well, before their credentials are checked.
 */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { invalidArgument, RollcallError } from "../core/errors.ts";
import type { By } from "../core/by.ts";
import type { Principal } from "../core/principals.ts";
import {
  byOfCall,
  peerOf,
  type Authenticator,
  type Caller,
  type Peer,
} from "../identity/caller.ts";
import { bodyTooLarge } from "./body.ts";
import { checkBrowser } from "./browsers.ts";
import type { CallRate } from "./call-rate.ts";
import type { HttpLimits } from "./limits.ts";

export interface GateOptions {
  readonly authenticator: Authenticator;
  readonly calls: CallRate;
  /** Counts a connection to its principal; throws where that has its share already. */
  claim(request: IncomingMessage, principal: string): void;
  readonly limits: HttpLimits;
  /** The values of Host that are ours; known once the door is bound. */
  readonly hosts: () => ReadonlySet<string>;
  /** The other end of the connection; a test puts a stranger in its place. */
  readonly peerOf?: (request: IncomingMessage) => Peer;
}

/** One is made for every request. */
class CallerOfHttp implements Caller {
  readonly wire = "http";
  readonly peer: Peer;
  readonly mayPresentLater: boolean;
  readonly #headers: IncomingHttpHeaders;
  forwardedFor?: string;

  constructor(peer: Peer, headers: IncomingHttpHeaders, mayPresentLater: boolean) {
    this.peer = peer;
    this.mayPresentLater = mayPresentLater;
    this.#headers = headers;
  }

  header(name: string): string | undefined {
    const value = this.#headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  }

  headerNames(): Iterable<string> {
    return Object.keys(this.#headers);
  }
}

export class Gate {
  readonly #options: GateOptions;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** The caller of an admitted request; throws the reason for a refusal. */
  admit(request: IncomingMessage, mayPresentLater = false): By | Promise<By> {
    const { authenticator, calls, hosts } = this.#options;
    const peer = this.#options.peerOf?.(request) ?? peerOf(request.socket);
    calls.takeFrom(peer);
    this.#checkShape(request);
    if (!peer.isOwnSocket) checkBrowser(request, hosts());
    const call = new CallerOfHttp(peer, request.headers, mayPresentLater);
    const admitted = authenticator.authenticate(call);
    const known = (principal: Principal) => {
      calls.take(principal.name);
      this.#options.claim(request, principal.name);
      return byOfCall(call, principal, "http");
    };
    return admitted instanceof Promise ? admitted.then(known) : known(admitted);
  }

  #checkShape({ url, headers, rawHeaders }: IncomingMessage): void {
    const { limits } = this.#options;
    if (!url?.startsWith("/")) {
      throw invalidArgument("the request target is not a path");
    }
    if (rawHeaders.length / 2 > limits.headers) {
      throw new RollcallError("TOO_LARGE", `more than ${limits.headers} headers`);
    }
    if (Number(headers["content-length"] ?? 0) > limits.bodyBytes)
      throw bodyTooLarge(limits.bodyBytes);
  }
}
