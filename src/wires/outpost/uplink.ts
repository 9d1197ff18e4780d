/**
 * An outpost's connection to its team: what this daemon sees goes up, what the team asks comes
 * down, and when there is no link everything here goes on, to be told later (feed.ts).
 *
 *               join                     everything is told
 *   ┌─▶ joining ─────▶ telling the whole ──────────────────▶ connected
 *   │      │                  │                                  │
 *   │      │ refused          └──────── lost, silent, half-open ─┤
 *   │      ▼                                                     ▼
 *   │   refused: wait longer                                 offline: wait, with jitter
 *   └──────┴─────────────────────────────────────────────────────┘
 *
 * A link that is half-open is found by either of its directions: a call that gets no answer in 10 s
 * (there is one every 15 s at least), or a stream that says nothing for 40 s.
 */
import { z } from "zod";
import type { Clock } from "../../core/clock.ts";
import { codeOf, RollcallError } from "../../core/errors.ts";
import type { OutpostFacts } from "../../core/outposts.ts";
import type { Engine } from "../../engine/engine.ts";
import { backOff, linked, pause, unlessAborted } from "../../machine/waiting.ts";
import { incompatible } from "../../net/http/refusal.ts";
import type { Step, WholePart } from "../../outposts/outposts.ts";
import { Awaited } from "./awaited.ts";
import { TeamFeed } from "./feed.ts";
import { Inbox, type SubmitJob } from "./inbox.ts";
import { UPLINK } from "./limits.ts";
import { linkTrouble } from "./link-trouble.ts";
import type { Team } from "./link.ts";
import { HostNames } from "./names.ts";
import type { SharePolicy } from "./policy.ts";
import { split } from "./steps.ts";

export interface UplinkOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly url: string;
  readonly policy: SharePolicy;
  /** Has a job run here that the team asks for. */
  readonly submit: SubmitJob;
  readonly facts: Omit<OutpostFacts, "share" | "accept">;
  /** The names of this machine in its own aliases. */
  readonly ownHosts: readonly string[];
  /** A link with the token of now; throws where there is none. */
  connect(): Team;
  readonly random?: () => number;
  readonly onChange?: (status: UplinkStatus) => void;
  readonly onTrouble?: (what: string, error: unknown) => void;
}

export type UplinkState = "joining" | "connected" | "offline" | "refused" | "closed";

export interface UplinkStatus {
  readonly url: string;
  /** As the team's daemon said; empty until it did. */
  readonly host: string;
  readonly state: UplinkState;
  readonly sinceMs: number;
  /** Why it is not connected; empty while it is. */
  readonly reason: string;
}

/** Counts since the start. */
export interface UplinkCounts {
  readonly joins: number;
  readonly reports: number;
  readonly refused: number;
}

const JOINED = z.looseObject({
  host: z.string(),
  session: z.string(),
  cursor: z.string(),
  beatMs: z.int().min(1_000).max(600_000),
});

const TAKEN = z.looseObject({
  news: z.int(),
  refused: z.array(z.looseObject({ alias: z.string(), code: z.string(), reason: z.string() })),
});

/** One session with the team's daemon. */
interface JoinedSession {
  readonly link: Team;
  readonly session: string;
  readonly beatMs: number;
  readonly feed: TeamFeed;
  readonly signal: AbortSignal;
}

export class Uplink {
  readonly #options: UplinkOptions;
  readonly #abort = new AbortController();
  readonly #running: Promise<void>;
  #status: UplinkStatus;
  readonly #counts = { joins: 0, reports: 0, refused: 0 };
  /** How to say that it leaves, while there is a session. */
  #leave: (() => Promise<unknown>) | undefined;

  constructor(options: UplinkOptions) {
    this.#options = options;
    const sinceMs = options.clock.wallMs();
    this.#status = { url: options.url, host: "", state: "joining", sinceMs, reason: "" };
    this.#running = this.#run();
  }

  get status(): UplinkStatus {
    return this.#status;
  }

  get counts(): UplinkCounts {
    return this.#counts;
  }

  async close(): Promise<void> {
    await this.#leave?.().catch(() => undefined);
    this.#abort.abort(new RollcallError("CANCELLED", "the outpost is closing"));
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, random = Math.random } = this.#options;
    const { signal } = this.#abort;
    let tries = 0;
    while (!signal.aborted) {
      const before = this.#counts.joins;
      const refusal = await this.#session().catch((error: unknown) => this.#lost(error));
      if (this.#counts.joins > before) tries = 0;
      const range = refusal === "refused" ? REFUSED : OFFLINE;
      await pause(clock, backOff(tries, range, random), signal).catch(() => undefined);
      tries += 1;
    }
    this.#become("closed", "");
  }

  /** Never resolves but by an error: a link is for good, until it is lost. */
  async #session(): Promise<never> {
    const { policy, facts, clock, engine, ownHosts } = this.#options;
    const { share, accept } = policy;
    const ending = new AbortController();
    const { signal, unlink } = linked(this.#abort.signal, ending.signal);
    const link = this.#options.connect();
    const clockMs = Math.floor(clock.wallMs());
    try {
      const answer = await link.post(
        "/v1/outposts/join",
        { ...facts, share, accept, clockMs },
        signal,
      );
      const { host, session, cursor, beatMs } = read(JOINED, answer);
      this.#counts.joins += 1;
      this.#status = { ...this.#status, host };
      const feed = new TeamFeed({ engine, names: new HostNames(host, ownHosts), policy });
      this.#leave = () => this.#sayGoodbye(link, session);
      const following = this.#follow(link, session, signal).catch((error: unknown) =>
        ending.abort(error),
      );
      try {
        return await this.#tell({ link, session, beatMs, feed, signal }, cursor);
      } finally {
        this.#leave = undefined;
        feed.close();
        ending.abort();
        await following;
      }
    } finally {
      unlink();
      link.close();
    }
  }

  /** Does the team's requests, one after the other. */
  async #follow(link: Team, session: string, signal: AbortSignal): Promise<void> {
    const { engine, submit, policy, url } = this.#options;
    const inbox = new Inbox({ engine, submit, accept: policy.accept, team: new URL(url).host });
    for await (const text of link.requests(session, signal)) {
      const outcome = await inbox.take(text);
      if (outcome) await link.post("/v1/outposts/answer", { session, ...outcome }, signal);
    }
  }

  async #tell(session: JoinedSession, joinedAt: string): Promise<never> {
    const { clock } = this.#options;
    const { feed, link, signal } = session;
    const { whole } = await unlessAborted(feed.begin(joinedAt), signal);
    let cursor = whole
      ? await this.#send(session, joinedAt, { steps: whole, isWhole: true })
      : joinedAt;
    this.#become("connected", "");
    let sweptAtMs = clock.monotonicMs();
    const following = () => new Awaited(unlessAborted(feed.next(), signal));
    let next = following();
    for (;;) {
      const steps = await next.within(clock, session.beatMs);
      if (steps) {
        cursor = await this.#send(session, cursor, { steps });
        await pause(clock, UPLINK.gatherMs, signal);
        next = following();
      } else await link.post("/v1/outposts/beat", { session: session.session }, signal);
      if (clock.monotonicMs() - sweptAtMs < UPLINK.sweepMs) continue;
      sweptAtMs = clock.monotonicMs();
      cursor = await this.#send(session, cursor, { steps: await feed.sweep() });
    }
  }

  /** Resolves to the cursor that the team has then. */
  async #send(session: JoinedSession, from: string, { steps, isWhole }: Telling): Promise<string> {
    const parts = split(steps);
    let cursor = from;
    for (const [i, part] of parts.entries()) {
      const whole = isWhole ? partName(i, parts.length) : undefined;
      await this.#take(session, { from: cursor, steps: part, ...(whole && { whole }) });
      cursor = part.at(-1)?.to ?? cursor;
    }
    return cursor;
  }

  /** Waits where the team says that it is too much: the rest stays in the log meanwhile. */
  async #take({ link, session, signal }: JoinedSession, body: TakeBody): Promise<void> {
    for (;;) {
      try {
        const answer = await link.post("/v1/outposts/take", { session, ...body }, signal);
        const { news, refused } = read(TAKEN, answer);
        this.#counts.reports += news;
        this.#counts.refused += refused.length;
        const [first] = refused;
        if (first) this.#options.onTrouble?.(`the team refused ${refused.length} reports`, first);
        return;
      } catch (error) {
        if (codeOf(error) !== "LIMIT_EXCEEDED") throw error;
        await pause(this.#options.clock, UPLINK.limitedMs, signal);
      }
    }
  }

  async #sayGoodbye(link: Team, session: string): Promise<void> {
    const signal = AbortSignal.timeout(UPLINK.farewellMs);
    await link.post("/v1/outposts/leave", { session }, signal);
  }

  /** How it was lost: only a person can mend what is refused. */
  #lost(error: unknown): "refused" | "offline" {
    if (this.#abort.signal.aborted) return "offline";
    const { url } = this.#options;
    const { isRefused, reason } = linkTrouble(error, url);
    const state = isRefused ? "refused" : "offline";
    if (this.#become(state, reason)) {
      this.#options.onTrouble?.(`no link to the team at ${url}: ${reason}`, error);
    }
    return state;
  }

  /** Whether it is another state than before. */
  #become(state: UplinkState, reason: string): boolean {
    const isNew = this.#status.state !== state;
    const sinceMs = isNew ? this.#options.clock.wallMs() : this.#status.sinceMs;
    this.#status = { ...this.#status, state, sinceMs, reason };
    if (isNew) this.#options.onChange?.(this.#status);
    return isNew;
  }
}

const OFFLINE = { firstRetryMs: UPLINK.firstRetryMs, lastRetryMs: UPLINK.lastRetryMs };
const REFUSED = { firstRetryMs: UPLINK.firstRefusedMs, lastRetryMs: UPLINK.lastRefusedMs };

interface Telling {
  readonly steps: readonly Step[];
  readonly isWhole?: boolean;
}

interface TakeBody {
  readonly from: string;
  readonly steps: readonly Step[];
  readonly whole?: WholePart;
}

function partName(i: number, parts: number): WholePart {
  if (parts === 1) return "only";
  if (i === 0) return "first";
  return i === parts - 1 ? "last" : "more";
}

function read<S extends z.ZodType>(schema: S, answer: unknown): z.output<S> {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw incompatible("the team's daemon answers an outpost otherwise than expected");
}
