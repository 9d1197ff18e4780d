/**
 * A registry to mount into an app one already has: the peer's endpoints of both generations, on a
 * store of one's own, without a daemon.
 *
 *   POST /registry/heartbeat               200 {"status":"ok","verified":…}
 *   POST /.well-known/agents/heartbeat     202, the same, with Retry-After
 *   GET  /.well-known/agents               the cards, in the version of the header A2A-Version,
 *                                          without it each in its own
 *
 * The rules of cards are those of Rollcall's own directory; so is the fetcher, which goes only to
 * addresses of the internet unless told otherwise (`reach`).
 */
import { readCard } from "../../../directory/cards/card.ts";
import { readHeartbeat } from "../../../directory/cards/heartbeat.ts";
import { HEARTBEAT } from "../../../core/card-limits.ts";
import { problem } from "../../../directory/cards/problems.ts";
import { cardAs, versionAsked, type ListedVersion } from "../../../directory/cards/versions.ts";
import { retryAfterS } from "../../../core/directory-rules.ts";
import { codeOf, RollcallError, wireCodes } from "../../../core/errors.ts";
import type { Clock } from "../../../core/clock.ts";
import { systemClock } from "../../../machine/clock.ts";
import type { Reach } from "../../../net/fetch/addresses.ts";
import { Fetcher, type FetchFailure } from "../../../net/fetch/fetcher.ts";
import { REGISTRY_DEFAULTS } from "./limits.ts";
import { mounts, type Mounts } from "./mounts.ts";
import type { RegisteredCard, RegistryProvider } from "./provider.ts";
import { Registry, type CardFetcher } from "./registry.ts";

export interface RegistryServerOptions {
  /** By default they are kept in memory. */
  readonly provider?: RegistryProvider;
  /** An agent is gone after so many of its intervals without a word: 3. */
  readonly staleMultiplier?: number;
  /** How often silent agents are looked for: 30. */
  readonly cleanupIntervalS?: number;
  /** How long an agent may take to send its card, and its first heartbeat waits: 10. */
  readonly fetchTimeoutS?: number;
  /** How often agents shall speak, unless they would be gone too soon: 60. */
  readonly expectedIntervalS?: number;
  /** For readers that send no header: A2A_VERSION, else each card in its own. */
  readonly a2aVersion?: ListedVersion;
  /** Which addresses agents may have, beside those of the internet. */
  readonly reach?: Reach;
  /** An agent's card could not be fetched, and why: for a log, not for the agent. */
  readonly onFetchFailure?: (detail: FetchFailure) => void;
  /** The store failed. */
  readonly onFailure?: (error: unknown) => void;
  /** In place of `reach` and `onFetchFailure`. */
  readonly fetcher?: CardFetcher;
  readonly clock?: Clock;
}

/** A request, whatever framework it is mounted in. */
export interface RegistryRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  header(name: string): string | undefined;
  /** The whole body; undefined where it is longer than `maxBytes`. */
  body(maxBytes: number): Promise<string | undefined>;
}

export interface RegistryAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const AGENTS = "/.well-known/agents";
const BEAT = "/.well-known/agents/heartbeat";
const OLD_BEAT = "/registry/heartbeat";
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

export class RegistryServer implements AsyncDisposable {
  /** How to mount it: `server.mount.hono()`, `.express()`, `.fastify()`, `.node()`. */
  readonly mount: Mounts;
  readonly #registry: Registry;
  readonly #fetcher: Fetcher;
  readonly #options: RegistryServerOptions;
  readonly #version: ListedVersion;
  /** Cards that are written already; a store that hands out the same object saves the work. */
  readonly #written = new WeakMap<RegisteredCard, Map<ListedVersion, string>>();

  constructor(options: RegistryServerOptions = {}) {
    const { reach = {}, onFetchFailure, clock = systemClock, ...rest } = options;
    const fetchTimeoutMs = 1000 * (options.fetchTimeoutS ?? REGISTRY_DEFAULTS.fetchTimeoutS);
    this.#fetcher = new Fetcher({
      reach,
      ...(onFetchFailure && { onFailure: onFetchFailure }),
      limits: { requestMs: fetchTimeoutMs, budgetMs: fetchTimeoutMs },
      timers: clock,
    });
    this.#registry = new Registry({ fetcher: this.#fetcher, ...rest, fetchTimeoutMs, clock });
    this.#options = options;
    const asked = process.env["A2A_VERSION"];
    this.#version = options.a2aVersion ?? (asked ? versionAsked(asked) : "own");
    this.mount = mounts(async (request) => this.answer(request));
  }

  /** Undefined for what is none of the registry's paths. */
  async answer(request: RegistryRequest): Promise<RegistryAnswer | undefined> {
    const method = { [AGENTS]: "GET", [BEAT]: "POST", [OLD_BEAT]: "POST" }[request.path];
    if (method === undefined) return undefined;
    if (request.method !== method) {
      return json(405, '{"detail":"Method Not Allowed"}', { allow: method });
    }
    try {
      return request.path === AGENTS ? await this.#list(request) : await this.#hear(request);
    } catch (error) {
      this.#options.onFailure?.(error);
      const code = codeOf(error);
      const message = error instanceof RollcallError ? error.message : "the registry has failed";
      return json(wireCodes(code).http, JSON.stringify({ detail: message }));
    }
  }

  async close(): Promise<void> {
    await this.#registry.close();
    await this.#fetcher.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #hear(request: RegistryRequest): Promise<RegistryAnswer> {
    const text = await request.body(HEARTBEAT.bytes);
    if (text === undefined) {
      const detail = `a heartbeat has at most ${HEARTBEAT.bytes} bytes`;
      return json(413, JSON.stringify({ detail }), { connection: "close" });
    }
    const read = readHeartbeat(text);
    const isJson = JSON_TYPE.test(request.header("content-type") ?? "");
    // A body without a JSON content-type is a text to the peer, and a text has no fields.
    const untyped =
      isJson || text === "" ? undefined : problem("model_attributes_type", ["body"], undefined);
    if (untyped || !read.ok) {
      const problems = untyped || read.ok ? [untyped] : read.problems;
      return json(422, JSON.stringify({ detail: problems }));
    }
    const { verified, ttlMs } = await this.#registry.hear(read.heartbeat);
    const body = JSON.stringify({ status: "ok", verified });
    if (request.path === OLD_BEAT) return json(200, body);
    const { expectedIntervalS = HEARTBEAT.defaultIntervalS } = this.#options;
    return json(202, body, { "retry-after": String(retryAfterS(ttlMs, expectedIntervalS)) });
  }

  async #list(request: RegistryRequest): Promise<RegistryAnswer> {
    const asked = request.header("a2a-version");
    const version = asked ? versionAsked(asked) : this.#version;
    const cards = await this.#registry.provider.listAvailable();
    const texts = cards.map((card) => this.#write(card, version));
    return json(200, `[${texts.filter((text) => text !== "").join(",")}]`, { vary: "A2A-Version" });
  }

  /** A store that gives back something else than it was given has nothing to list. */
  #write(card: RegisteredCard, version: ListedVersion): string {
    const written = this.#written.get(card) ?? new Map<ListedVersion, string>();
    this.#written.set(card, written);
    const known = written.get(version);
    if (known !== undefined) return known;
    const read = readCard(card.text);
    const text = read.ok ? cardAs(read.card, version) : "";
    written.set(version, text);
    return text;
  }
}

function json(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): RegistryAnswer {
  return { status, body, headers: { "content-type": "application/json", ...headers } };
}
