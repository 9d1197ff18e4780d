/**
 * Fetches JSON from URLs that strangers have sent us, without becoming their tool.
 *
 *   url ──▶ judged ──▶ turn ──▶ resolved once ──▶ every address judged ──▶ dialled by address
 *          (scheme,   (how many                                              │
 *          port, no    at once)           redirect within the origin, ≤ 2 ◀──┤
 *          password)                                                         ▼
 *                                                     200, JSON, bounded in bytes and in time
 *
 * The name is resolved once and the connection opened to the address that was judged: there is no
 * second look-up for DNS rebinding to answer differently. If one of its addresses may not be
 * dialled, none is.
 *
 * The caller learns that it failed and nothing else: no status, no timeout, no refused connection,
 * or the registry would be a scanner for networks that it can see and the caller cannot. The reason
 * goes to `onFailure`, for the operator's log.
 */
import { setMaxListeners } from "node:events";
import { isIP, type Socket } from "node:net";
import { httpUrl } from "../http/url.ts";
import { errorText, RollcallError } from "../../core/errors.ts";
import { judgeFor, type JudgeAddress, type Reach } from "./addresses.ts";
import { connectWith, type Connect } from "./connect.ts";
import { systemClock } from "../../machine/clock.ts";
import { linked } from "../../machine/waiting.ts";
import { within, type Deadline } from "./deadline.ts";
import { FETCH, type FetchLimits } from "./limits.ts";
import { portOf } from "./ports.ts";
import { limitedLookup, type Resolve } from "./resolve.ts";
import { failure, send } from "./response.ts";
import { FetchQueue } from "./queue.ts";

export interface FetcherOptions {
  readonly reach?: Reach;
  readonly onFailure?: (detail: FetchFailure) => void;
  readonly limits?: Partial<FetchLimits>;
  /** For tests. */
  readonly resolve?: Resolve;
  readonly connect?: Connect;
  readonly timers?: Deadline["timers"];
}

export interface FetchFailure {
  /** Without its query: that may hold a secret. */
  readonly url: string;
  readonly reason: string;
}

export interface FetchOptions {
  readonly signal?: AbortSignal | undefined;
  /** The reason is the cause of the error: for the operator, never for who sent the URL. */
  readonly tellsWhy?: boolean;
}

/** The judged addresses of an origin. */
interface Endpoint {
  readonly addresses: readonly string[];
  readonly port: number;
  readonly tlsHost?: string;
}

export class Fetcher implements AsyncDisposable {
  readonly #limits: FetchLimits;
  readonly #judge: JudgeAddress;
  readonly #resolve: Resolve;
  readonly #connect: Connect;
  readonly #timers: Deadline["timers"];
  readonly #onFailure: (detail: FetchFailure) => void;
  readonly #queue: FetchQueue;
  readonly #closing = new AbortController();

  constructor(options: FetcherOptions = {}) {
    this.#limits = { ...FETCH, ...options.limits };
    this.#judge = judgeFor(options.reach ?? {});
    this.#resolve = options.resolve ?? limitedLookup();
    this.#connect = options.connect ?? connectWith();
    this.#timers = options.timers ?? systemClock;
    this.#onFailure = options.onFailure ?? (() => undefined);
    this.#queue = new FetchQueue(this.#limits);
    // Every fetch listens to it, and as many may wait as the queue holds.
    setMaxListeners(0, this.#closing.signal);
  }

  /** How many are under way. */
  get running(): number {
    return this.#queue.running;
  }

  /** The text behind one URL. */
  async text(url: string, options: FetchOptions = {}): Promise<string> {
    return this.first([url], (text) => text, options);
  }

  /**
   * The result of `read` for the first of these URLs whose text it can read (it returns undefined
   * where it cannot). All must be of one origin. Every failure is the same UNAVAILABLE.
   */
  async first<T>(
    urls: readonly string[],
    read: (text: string, url: string) => T | undefined,
    { signal: interest, tellsWhy = false }: FetchOptions = {},
  ): Promise<T> {
    using either = linked(interest, this.#closing.signal);
    const { signal } = either;
    try {
      const targets = urls.map((url) => targetOf(url, this.#limits));
      const [origin, ...others] = new Set(targets.map((target) => target.origin));
      if (origin === undefined) throw failure("no URL was given");
      if (others.length > 0)
        throw failure(`the URLs are of several origins: ${[origin, ...others].join(", ")}`);
      return await this.#inTurn(origin, signal, (inner) => this.#tryEach(targets, read, inner));
    } catch (error) {
      if (interest?.aborted) throw new RollcallError("CANCELLED", "the caller cancelled the fetch");
      this.#report(urls[0] ?? "", error);
      throw new RollcallError(
        "UNAVAILABLE",
        "it could not be fetched",
        tellsWhy ? { cause: error } : {},
      );
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(failure("the fetcher was closed"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #inTurn<T>(
    origin: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const leave = await this.#queue.enter(origin, signal);
    if (!leave) throw failure(`${this.#limits.waiting} fetches wait already: refused`);
    const ms = this.#limits.budgetMs;
    const late = failure(`timeout: the URLs of ${origin} took longer than ${ms} ms together`);
    try {
      return await within({ ms, timers: this.#timers, signal, late }, work);
    } finally {
      leave();
    }
  }

  async #tryEach<T>(
    targets: readonly URL[],
    read: (text: string, url: string) => T | undefined,
    signal: AbortSignal,
  ): Promise<T> {
    const [first] = targets;
    if (!first) throw failure("no URL was given");
    const ms = this.#limits.requestMs;
    const deadline = { ms, timers: this.#timers, signal };
    const slowName = failure(`timeout: ${first.hostname} was not resolved within ${ms} ms`);
    const endpoint = await within({ ...deadline, late: slowName }, async (inner) =>
      this.#locate(first, inner),
    );
    const reasons: string[] = [];
    for (const target of targets) {
      try {
        const late = failure(`timeout: no complete answer within ${ms} ms`);
        const text = await within({ ...deadline, late }, async (inner) =>
          this.#follow(target, endpoint, inner),
        );
        const found = read(text, target.href);
        if (found !== undefined) return found;
        throw failure("the JSON is not of the expected form");
      } catch (error) {
        signal.throwIfAborted();
        this.#report(target.href, error);
        if (error instanceof Unreachable) throw error;
        reasons.push(`${target.pathname}: ${(error as Error).message}`);
      }
    }
    throw failure(`none of the ${targets.length} URLs could be used: ${reasons.join("; ")}`);
  }

  async #locate(target: URL, signal: AbortSignal): Promise<Endpoint> {
    const port = portOf(target);
    if (port === undefined)
      throw failure(`port ${target.port} is refused: serve on 443, 80 or 8080`);
    const host = target.hostname.replace(/^\[|\]$/g, "");
    const addresses = isIP(host) === 0 ? await this.#resolve(host, signal) : [host];
    const count = addresses.length;
    const most = this.#limits.addresses;
    if (count === 0) throw failure(`${host} resolves to no address`);
    if (count > most) throw failure(`${host} resolves to ${count} addresses, ${most} are allowed`);
    for (const address of addresses) {
      const why = this.#judge(address);
      const name = host === address ? "" : `${host}: `;
      if (why !== undefined) throw failure(`${name}${address} is ${why}: refused`);
    }
    return { addresses, port, ...(target.protocol === "https:" && { tlsHost: host }) };
  }

  async #follow(target: URL, endpoint: Endpoint, signal: AbortSignal): Promise<string> {
    let url = target;
    for (let hops = 0; hops <= this.#limits.redirects; hops += 1) {
      const socket = await this.#dial(endpoint, signal);
      try {
        const response = await send({ url, socket, limits: this.#limits, signal });
        if (response.kind === "body") return response.text;
        const { location } = response;
        const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
        if (next?.origin !== target.origin) throw failure("redirect to another origin: refused");
        url = targetOf(next.href, this.#limits);
      } finally {
        socket.destroy();
      }
    }
    throw failure(`more than ${this.#limits.redirects} redirects`);
  }

  /** Its addresses in turn, until one answers. */
  async #dial({ addresses, port, tlsHost }: Endpoint, signal: AbortSignal): Promise<Socket> {
    const tls = tlsHost === undefined ? {} : { tlsHost };
    let last: unknown;
    for (const address of addresses.slice(0, this.#limits.dials)) {
      try {
        return await this.#connect({ address, port, ...tls, signal });
      } catch (error) {
        signal.throwIfAborted();
        last = error;
      }
    }
    throw new Unreachable(last);
  }

  #report(url: string, error: unknown): void {
    const parsed = URL.canParse(url) ? new URL(url) : undefined;
    const shown = parsed ? `${parsed.origin}${parsed.pathname}` : "(no URL)";
    const cause = errorText(error);
    this.#onFailure({ url: shown, reason: cause });
  }
}

/** No address accepts a connection: a request for another file there would be pointless. */
class Unreachable extends RollcallError {
  constructor(cause: unknown) {
    super("UNAVAILABLE", `no address accepts a connection: ${String(cause)}`, { cause });
  }
}

/** Addresses in other forms (0x7f.1, 2130706433, 017700000001) are plain ones after this. */
function targetOf(text: string, limits: FetchLimits): URL {
  if (text.length > limits.urlLength)
    throw failure(`the URL is longer than ${limits.urlLength} characters`);
  const url = httpUrl(text);
  if (!url) throw failure("not an http or https URL, or one with a password");
  return url;
}
