/**
 * Fetches JSON from URLs that strangers have sent us, without becoming their tool.
 *
 *   url ──▶ judged ──▶ gate ──▶ resolved once ──▶ every address judged ──▶ dialled by address
 *          (scheme,   (how many                                              │
 *          port, no    at once)           redirect within the origin, ≤ 2 ◀──┤
 *          password)                                                         ▼
 *                                                     200, JSON, bounded in bytes and in time
 *
 * The name is resolved once and the connection opened to the address that was judged: a name that
 * answers differently the second time finds nobody who asks it. If one of its addresses may not be
 * dialled, none is.
 *
 * Whoever asked learns that it failed and nothing else: no status, no time-out, no refused
 * connection, or the registry would be a scanner for networks it can see and he cannot. What
 * happened goes to `onFailure`, for the operator's log.
 */
import { setMaxListeners } from "node:events";
import { isIP, type Socket } from "node:net";
import { httpUrl } from "../http/url.ts";
import { RollcallError } from "../../core/errors.ts";
import { judgeFor, type JudgeAddress, type Reach } from "./addresses.ts";
import { connectWith, type Connect } from "./connect.ts";
import { joined, systemTimers, within, type Timers } from "./deadline.ts";
import { Gate } from "./gate.ts";
import { FETCH, type FetchLimits } from "./limits.ts";
import { portOf } from "./ports.ts";
import { limitedLookup, type Resolve } from "./resolve.ts";
import { ask, failure } from "./response.ts";

export interface FetcherOptions {
  readonly reach?: Reach;
  readonly onFailure?: (detail: FetchFailure) => void;
  readonly limits?: Partial<FetchLimits>;
  /** For tests. */
  readonly resolve?: Resolve;
  readonly connect?: Connect;
  readonly timers?: Timers;
}

export interface FetchFailure {
  /** Without its query: that may hold a secret. */
  readonly url: string;
  readonly reason: string;
}

export interface FetchOptions {
  readonly signal?: AbortSignal | undefined;
}

/** What is behind an origin, once it was judged. */
interface Place {
  readonly addresses: readonly string[];
  readonly port: number;
  readonly tlsHost?: string;
}

export class Fetcher implements AsyncDisposable {
  readonly #limits: FetchLimits;
  readonly #judge: JudgeAddress;
  readonly #resolve: Resolve;
  readonly #connect: Connect;
  readonly #timers: Timers;
  readonly #onFailure: (detail: FetchFailure) => void;
  readonly #gate: Gate;
  readonly #closing = new AbortController();

  constructor(options: FetcherOptions = {}) {
    this.#limits = { ...FETCH, ...options.limits };
    this.#judge = judgeFor(options.reach ?? {});
    this.#resolve = options.resolve ?? limitedLookup();
    this.#connect = options.connect ?? connectWith();
    this.#timers = options.timers ?? systemTimers;
    this.#onFailure = options.onFailure ?? (() => undefined);
    this.#gate = new Gate(this.#limits);
    // Every fetch listens to it, and as many may wait as the gate lets.
    setMaxListeners(0, this.#closing.signal);
  }

  /** How many are under way. */
  get running(): number {
    return this.#gate.inside;
  }

  /** The text behind one URL. */
  async text(url: string, options: FetchOptions = {}): Promise<string> {
    return this.first([url], (text) => text, options);
  }

  /**
   * What `read` makes of the first of these URLs whose text it can read (it returns undefined where
   * it cannot). All must be of one origin. Every failure is the same UNAVAILABLE.
   */
  async first<T>(
    urls: readonly string[],
    read: (text: string, url: string) => T | undefined,
    { signal: interest }: FetchOptions = {},
  ): Promise<T> {
    const closing = this.#closing.signal;
    using either = joined(interest ? [interest, closing] : [closing]);
    const { signal } = either;
    try {
      const targets = urls.map((url) => targetOf(url, this.#limits));
      const [origin, ...others] = new Set(targets.map((target) => target.origin));
      if (origin === undefined) throw failure("there is no URL to ask");
      if (others.length > 0) throw failure("these URLs are not of one origin");
      return await this.#inTurn(origin, signal, (inner) => this.#tryEach(targets, read, inner));
    } catch (error) {
      if (interest?.aborted) throw new RollcallError("CANCELLED", "nobody waits for it any more");
      this.#report(urls[0] ?? "", error);
      throw new RollcallError("UNAVAILABLE", "it could not be fetched");
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
    const leave = await this.#gate.enter(origin, signal);
    if (!leave) throw failure("too many wait already");
    const deadline = { ms: this.#limits.budgetMs, timers: this.#timers, signal };
    try {
      return await within({ ...deadline, late: failure("all of it took too long") }, work);
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
    if (!first) throw failure("there is no URL to ask");
    const deadline = { ms: this.#limits.requestMs, timers: this.#timers, signal };
    const place = await within({ ...deadline, late: failure("no name in time") }, async (inner) =>
      this.#locate(first, inner),
    );
    for (const target of targets) {
      try {
        const late = failure("it took too long");
        const text = await within({ ...deadline, late }, async (inner) =>
          this.#follow(target, place, inner),
        );
        const found = read(text, target.href);
        if (found !== undefined) return found;
        throw failure("it is not what was looked for");
      } catch (error) {
        signal.throwIfAborted();
        this.#report(target.href, error);
        if (error instanceof Unreachable) throw error;
      }
    }
    throw failure("none of its URLs had it");
  }

  async #locate(target: URL, signal: AbortSignal): Promise<Place> {
    const port = portOf(target);
    if (port === undefined) throw failure("its port is none of the web's");
    const host = target.hostname.replace(/^\[|\]$/g, "");
    const addresses = isIP(host) === 0 ? await this.#resolve(host, signal) : [host];
    if (addresses.length === 0) throw failure("its name means nothing");
    if (addresses.length > this.#limits.addresses) throw failure("its name means too much");
    for (const address of addresses) {
      const why = this.#judge(address);
      if (why !== undefined) throw failure(`${address} is ${why}`);
    }
    return { addresses, port, ...(target.protocol === "https:" && { tlsHost: host }) };
  }

  async #follow(target: URL, place: Place, signal: AbortSignal): Promise<string> {
    let url = target;
    for (let hops = 0; hops <= this.#limits.redirects; hops += 1) {
      const socket = await this.#dial(place, signal);
      try {
        const answer = await ask({ url, socket, limits: this.#limits, signal });
        if (answer.kind === "body") return answer.text;
        const { location } = answer;
        const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
        if (next?.origin !== target.origin) throw failure("it points to another origin");
        url = targetOf(next.href, this.#limits);
      } finally {
        socket.destroy();
      }
    }
    throw failure("it points on and on");
  }

  /** Its addresses in turn, until one answers. */
  async #dial({ addresses, port, tlsHost }: Place, signal: AbortSignal): Promise<Socket> {
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
    const cause = error instanceof Error ? error.message : String(error);
    this.#onFailure({ url: shown, reason: cause });
  }
}

/** Nobody answers at any address: asking for other files there would be pointless. */
class Unreachable extends RollcallError {
  constructor(cause: unknown) {
    super("UNAVAILABLE", `nobody answers: ${String(cause)}`, { cause });
  }
}

/** Numbers in other clothes (0x7f.1, 2130706433, 017700000001) are addresses after this. */
function targetOf(text: string, limits: FetchLimits): URL {
  if (text.length > limits.urlLength) throw failure("its URL is too long");
  const url = httpUrl(text);
  if (!url) throw failure("it is no URL of the web, or holds a password");
  return url;
}
