/**
 * Keeps an agent in a registry: says its card again and again, for as long as the agent lives.
 *
 *   start ──▶ beat ──ok──▶ wait: the interval, less some jitter ──┐
 *              ▲ │                                                │
 *              │ └─failed──▶ wait: 1 s, 2 s, 4 s … the interval ──┤
 *              └──────────────────────────────────────────────────┘   close: from anywhere
 *
 * Registries of both generations are served: the path of the newer is tried first, and where that
 * is not known the older's. A registry says in `Retry-After` when it wants to hear from an agent
 * next; after a heartbeat that it took, that becomes the interval, after one that it refused it is
 * how long to wait.
 *
 * Rollcall's own registry issues a token with the first heartbeat. Who shows it again is known to
 * be the one that registered the agent (tier `owner`), after a restart too if it was kept.
 */
import { readCard, type CardVersion } from "../../../directory/cards/card.ts";
import { HEARTBEAT } from "../../../core/card-limits.ts";
import { cardAs, versionAsked } from "../../../directory/cards/versions.ts";
import { codeOf, invalidArgument, RollcallError } from "../../../core/errors.ts";
import type { Clock } from "../../../core/clock.ts";
import { systemClock } from "../../../machine/clock.ts";
import { linked, pause } from "../../../machine/waiting.ts";
import { parseUrl } from "../../../net/http/url.ts";
import {
  call,
  isToken,
  parsed,
  refusal,
  TOKEN_HEADER,
  type RegistryResponse,
  type Fetch,
} from "./calls.ts";
import { BEAT } from "./limits.ts";
import { pages, type RegistryFetch, type ListOptions } from "./listing.ts";
import type { Awaitable } from "./provider.ts";
import type { A2aCard } from "./types.ts";

export interface RegistryClientOptions {
  /** Such as `http://registry:8000`; by default REGISTRY_URL. */
  readonly registryUrl?: string;
  /** How often to speak, until the registry says otherwise; by default HEARTBEAT_INTERVAL or 60. */
  readonly intervalS?: number;
  /** Turns the card into that version first; by default A2A_VERSION, else it goes as it is. */
  readonly a2aVersion?: CardVersion;
  /** Sent as a bearer token, to registries that want one. */
  readonly token?: string;
  /** The token that `onRegistrationToken` got in an earlier run. */
  readonly registrationToken?: string;
  /** The registry issued a token for this agent: keep it as a secret, for the next run. */
  readonly onRegistrationToken?: (token: string) => Awaitable<unknown>;
  readonly timeoutMs?: number;
  /** After each heartbeat that the registry took. */
  readonly onHeartbeat?: (result: HeartbeatResult) => void;
  /** After each that failed; the next one is on its way. */
  readonly onFailure?: (error: RollcallError) => void;
  readonly fetch?: Fetch;
  readonly clock?: Clock;
  /** Between 0 and 1. */
  readonly random?: () => number;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface HeartbeatResult {
  /** Whether the registry has fetched the agent's own card, and so lists it. */
  readonly verified: boolean;
}

const AGENTS = "/.well-known/agents";
/** Of both generations, the newer first. */
const BEATS = ["/.well-known/agents/heartbeat", "/registry/heartbeat"] as const;

export class RegistryClient implements AsyncDisposable {
  readonly registryUrl: string;
  readonly #options: RegistryClientOptions;
  readonly #cardText: string;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  #intervalS: number;
  #registrationToken: string | undefined;
  /** The one that worked last. */
  #path: (typeof BEATS)[number] = BEATS[0];
  #running: Promise<void> | undefined;

  /** Throws where the card is none, with what is wrong with it. */
  constructor(card: A2aCard, options: RegistryClientOptions = {}) {
    const env = options.env ?? process.env;
    const url = options.registryUrl ?? env["REGISTRY_URL"];
    if (!url) throw invalidArgument("give registryUrl, or set REGISTRY_URL");
    this.registryUrl = parseUrl(url, "registryUrl");
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#intervalS = options.intervalS ?? Number(env["HEARTBEAT_INTERVAL"] || 60);
    const { minIntervalS, maxIntervalS } = HEARTBEAT;
    const isInterval = Number.isInteger(this.#intervalS) && this.#intervalS >= minIntervalS;
    if (!isInterval || this.#intervalS > maxIntervalS) {
      throw invalidArgument(
        `intervalS is ${this.#intervalS}, allowed are ${minIntervalS} to ${maxIntervalS}`,
      );
    }
    this.#registrationToken = options.registrationToken;
    if (this.#registrationToken !== undefined && !isToken(this.#registrationToken)) {
      throw invalidArgument("registrationToken is not one that a registry issued");
    }
    const asked = options.a2aVersion ?? env["A2A_VERSION"];
    this.#cardText = textOf(card, asked === undefined ? undefined : versionAsked(asked));
  }

  /** The interval that the registry last asked for. */
  get intervalS(): number {
    return this.#intervalS;
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Heartbeats go in the background from here on; a second call changes nothing. */
  start(): this {
    this.#running ??= this.#run();
    return this;
  }

  /** One heartbeat, now. Throws where the registry did not take it. */
  async sendOnce({ signal }: { readonly signal?: AbortSignal } = {}): Promise<HeartbeatResult> {
    const body = `{"agent_card":${this.#cardText},"interval":${this.#intervalS}}`;
    const { answer, url } = await this.#post(body, signal);
    const isTaken = answer.status === 200 || answer.status === 202;
    if (!isTaken) throw new RegistryRefusal(refusal(url, answer), answer);
    if (answer.retryAfterS !== undefined) this.#intervalS = allowed(answer.retryAfterS);
    await this.#keep(answer.registrationToken);
    return { verified: verifiedIn(answer.text, url) };
  }

  /** The cards of the agents that the registry lists; with a `limit`, the first of them. */
  async list(options: ListOptions = {}): Promise<readonly A2aCard[]> {
    for await (const page of this.pages(options)) return page;
    return [];
  }

  /** All of them, a `limit` at a time. */
  pages(options: ListOptions = {}): AsyncGenerator<readonly A2aCard[], void, undefined> {
    const ask: RegistryFetch = (url, headers, signal) => this.#call(url, headers, { signal });
    return pages(ask, this.registryUrl + AGENTS, options);
  }

  /** The registry forgets the agent when it stays silent: there is nothing to take back. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #run(): Promise<void> {
    const { onHeartbeat, onFailure, random = Math.random } = this.#options;
    let failures = 0;
    for (;;) {
      const sent = await this.sendOnce().catch(asRollcallError);
      if (this.isClosed) return;
      if (sent instanceof RollcallError) onFailure?.(sent);
      else onHeartbeat?.(sent);
      failures = sent instanceof RollcallError ? failures + 1 : 0;
      const waitMs = failures === 0 ? this.#intervalS * 1000 : this.#retryMs(sent, failures);
      const delayMs = waitMs * (1 - BEAT.jitter * random());
      await pause(this.#clock, delayMs, this.#closing.signal).catch(() => undefined);
    }
  }

  async #keep(issued: string | undefined): Promise<void> {
    if (issued === undefined || issued === this.#registrationToken) return;
    this.#registrationToken = issued;
    await this.#options.onRegistrationToken?.(issued);
  }

  #retryMs(failure: unknown, failures: number): number {
    const asked = failure instanceof RegistryRefusal ? failure.retryAfterS : undefined;
    if (asked !== undefined) return allowed(asked) * 1000;
    const backoffMs = BEAT.firstRetryMs * 2 ** Math.min(failures - 1, 20);
    return Math.min(backoffMs, this.#intervalS * 1000);
  }

  /** At the path that worked last; where it is not known (any more), at the other one. */
  async #post(
    body: string,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly answer: RegistryResponse; readonly url: string }> {
    const held = this.#registrationToken;
    const headers = {
      "content-type": "application/json",
      ...(held !== undefined && { [TOKEN_HEADER]: held }),
    };
    const paths = [this.#path, ...BEATS.filter((path) => path !== this.#path)];
    let last: { readonly answer: RegistryResponse; readonly url: string } | undefined;
    for (const path of paths) {
      const url = this.registryUrl + path;
      const answer = await this.#call(url, headers, { body, signal });
      if (answer.status !== 404 && answer.status !== 405) {
        this.#path = path;
        return { answer, url };
      }
      last ??= { answer, url };
    }
    if (!last) throw new RollcallError("INTERNAL", "there is no path to a registry");
    return last;
  }

  async #call(
    url: string,
    headers: Readonly<Record<string, string>>,
    more: { readonly body?: string; readonly signal?: AbortSignal | undefined },
  ): Promise<RegistryResponse> {
    const { token, fetch = globalThis.fetch, timeoutMs = BEAT.answerMs } = this.#options;
    using either = linked(more.signal, this.#closing.signal);
    return await call(
      {
        url,
        headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
        ...(more.body !== undefined && { body: more.body }),
        maxBytes: more.body === undefined ? BEAT.listBytes : BEAT.answerBytes,
        timeoutMs,
        signal: either.signal,
      },
      { fetch, clock: this.#clock },
    );
  }
}

/** A refusal that says when to come back. */
class RegistryRefusal extends RollcallError {
  readonly retryAfterS: number | undefined;

  constructor({ code, message }: RollcallError, { retryAfterS }: RegistryResponse) {
    super(code, message);
    this.retryAfterS = retryAfterS;
  }
}

function allowed(intervalS: number): number {
  return Math.min(Math.max(intervalS, HEARTBEAT.minIntervalS), HEARTBEAT.maxIntervalS);
}

function textOf(card: A2aCard, version: CardVersion | undefined): string {
  const read = readCard(JSON.stringify(card));
  if (read.ok) return version === undefined ? read.card.text : cardAs(read.card, version);
  const [problem] = read.problems;
  throw invalidArgument(
    `the card is wrong: ${[...(problem?.loc ?? [])].join(".")}: ${problem?.msg ?? ""}`,
  );
}

function verifiedIn(text: string, url: string): boolean {
  const body = parsed(text, url) as { readonly verified?: unknown } | null;
  if (typeof body?.verified === "boolean") return body.verified;
  throw new RollcallError("INTERNAL", `${url} does not answer as a registry does`);
}

function asRollcallError(error: unknown): RollcallError {
  if (error instanceof RollcallError) return error;
  return new RollcallError(codeOf(error), String(error), { cause: error });
}
