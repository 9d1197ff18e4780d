/**
 * The outposts that report to this daemon, as far as they are more than records of the state: how
 * fast each may report, what a whole telling has told so far, and what is asked of each.
 *
 *   join ──▶ whole … ──▶ steps, as they happen          each step: its reports and its cursor, as
 *              └─ the last one ends what was not told    one command
 *
 * All of it is soft: after a restart outposts join again, and go on from the cursor of the state.
 */
import type { By } from "../core/by.ts";
import type { Clock } from "../core/clock.ts";
import { RollcallError } from "../core/errors.ts";
import { withHost, type SentJob } from "../core/host-jobs.ts";
import { OUTPOST } from "../core/limits.ts";
import type { Refused } from "../core/outpost-reports.ts";
import type { Outpost, OutpostFacts } from "../core/outposts.ts";
import { isGone } from "../core/questions.ts";
import { Rate } from "../core/rate.ts";
import type { Report } from "../core/reports.ts";
import type { Engine } from "../engine/engine.ts";
import { LINK } from "./limits.ts";
import { OutpostRequests, type OutpostAnswer, type OutpostTask } from "./requests.ts";

/** Reports of different agents, and the place in the outpost's log up to which they reach. */
export interface Step {
  readonly to: string;
  readonly reports: readonly Report[];
  readonly gone: readonly string[];
  /** How jobs of the outpost are, and the ids of those that it no longer knows. */
  readonly jobs: readonly SentJob[];
  readonly jobsGone: readonly string[];
}

/** One message of an outpost. */
export interface OutpostMessage {
  readonly session: string;
  readonly from: string;
  readonly steps: readonly Step[];
  /** Of a telling of everything: the first part, one between, or the last. */
  readonly whole?: WholePart | undefined;
}

export const WHOLE_PARTS = ["first", "more", "last", "only"] as const;
export type WholePart = (typeof WHOLE_PARTS)[number];

export interface TakeResult {
  readonly news: number;
  readonly refused: readonly Refused[];
}

/** An outpost, and whether its stream is open. */
export interface ListedOutpost {
  readonly outpost: Outpost;
  readonly seenAtMs: number;
  readonly agents: number;
  readonly isConnected: boolean;
}

export interface OutpostsOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  /** Names of this machine: its own agents are reported under them. */
  readonly ownHosts: readonly string[];
}

/** The soft state of one host. */
interface Desk {
  readonly requests: OutpostRequests;
  session: string;
  isTaking: boolean;
  /** The aliases, and ids of jobs, that were told since the whole began. */
  told: Set<string> | undefined;
}

export class OutpostService {
  readonly #options: OutpostsOptions;
  readonly #desks = new Map<string, Desk>();
  readonly #rate = new Rate(LINK.reportsPerSecond, LINK.reportsBurst);
  /** Since the start, for gauges. */
  readonly counts = { joins: 0, reports: 0, refused: 0 };

  constructor(options: OutpostsOptions) {
    this.#options = options;
  }

  async join(host: string, { facts, clockMs }: Joining, by: By): Promise<Outpost> {
    const { engine, ownHosts } = this.#options;
    if (ownHosts.includes(host)) {
      const fix = "give the outpost a token for another host";
      throw new RollcallError("ALREADY_EXISTS", `${host} is this daemon's own host: ${fix}`);
    }
    const outpost = await engine.execute({ type: "outpost.join", host, facts, clockMs }, by);
    const desk = this.#desk(host);
    desk.requests.end();
    desk.session = outpost.session;
    desk.told = undefined;
    this.counts.joins += 1;
    return outpost;
  }

  beat(host: string, session: string, by: By): Promise<null> {
    return this.#options.engine.execute({ type: "outpost.beat", host, session }, by);
  }

  async leave(host: string, session: string, by: By): Promise<void> {
    await this.#options.engine.execute({ type: "outpost.leave", host, session }, by);
    this.#desk(host).requests.end();
  }

  /** Resolves when all of it is durable; rejects where the last steps were not taken. */
  async take(host: string, sending: OutpostMessage, by: By): Promise<TakeResult> {
    const desk = this.#desk(host);
    const reports = sending.steps.reduce(
      (sum, each) => sum + each.reports.length + each.jobs.length,
      0,
    );
    if (desk.isTaking) {
      throw new RollcallError(
        "LIMIT_EXCEEDED",
        `${host} sends a second take before the first ended`,
      );
    }
    if (!this.#rate.take(host, this.#options.engine.nowMs, reports)) {
      const most = `${LINK.reportsPerSecond} reports a second`;
      throw new RollcallError("LIMIT_EXCEEDED", `${host} sends more than ${most}: wait`);
    }
    desk.isTaking = true;
    try {
      const taken = await this.#takeSteps(host, this.#withGone(host, desk, sending), by);
      // Not before: a part that was too much is sent again.
      if (isEnd(sending.whole) && sending.session === desk.session) desk.told = undefined;
      return taken;
    } finally {
      desk.isTaking = false;
    }
  }

  /** Decided in order; they become durable together. */
  async #takeSteps(
    host: string,
    { session, from, steps }: OutpostMessage,
    by: By,
  ): Promise<TakeResult> {
    const { engine } = this.#options;
    let before = from;
    const taking = steps.map(({ to, ...told }) => {
      const step = { session, from: before, to, ...told };
      before = to;
      return engine.execute({ type: "outpost.take", host, ...step }, by);
    });
    const taken = await Promise.all(taking);
    const news = taken.reduce((sum, each) => sum + each.news, 0);
    const refused = taken.flatMap((each) => each.refused);
    this.counts.reports += news;
    this.counts.refused += refused.length;
    return { news, refused };
  }

  /** With the last part of a whole, what was not told of is told to be gone. */
  #withGone(host: string, desk: Desk, sending: OutpostMessage): OutpostMessage {
    const { whole, session, steps } = sending;
    if (whole === undefined || session !== desk.session) return sending;
    if (whole === "first" || whole === "only") desk.told = new Set();
    const { told } = desk;
    // Without its beginning nobody knows what was not told.
    if (!told) return sending;
    for (const { reports, jobs } of steps) {
      for (const { alias } of reports) told.add(alias);
      for (const { id } of jobs) told.add(withHost(id, host));
    }
    if (!isEnd(whole)) return sending;
    const gone = this.#untold(host, told);
    const jobsGone = this.#untoldJobs(host, told);
    const before: Step[] = [];
    for (let i = 0; i < gone.length; i += OUTPOST.reportsAtOnce) {
      const some = gone.slice(i, i + OUTPOST.reportsAtOnce);
      before.push({ to: sending.from, reports: [], gone: some, jobs: [], jobsGone: [] });
    }
    if (jobsGone.length > 0) {
      before.push({ to: sending.from, reports: [], gone: [], jobs: [], jobsGone });
    }
    return { ...sending, steps: [...before, ...steps] };
  }

  #untold(host: string, told: ReadonlySet<string>): readonly string[] {
    return this.#options.engine.peek(({ reports }) =>
      [...reports.ofHost.of(host)].filter((alias) => {
        const liveness = reports.byAlias.get(alias)?.report.facts.liveness.value;
        return !told.has(alias) && liveness !== undefined && !isGone(liveness);
      }),
    );
  }

  #untoldJobs(host: string, told: ReadonlySet<string>): readonly string[] {
    return this.#options.engine.peek(({ hostJobs }) =>
      [...hostJobs.ofHost.of(host)].filter((id) => !told.has(id)),
    );
  }

  /** The requests to a host, for the session that it joined with. */
  requests(host: string, session: string): OutpostRequests {
    const desk = this.#desks.get(host);
    if (desk?.session === session) return desk.requests;
    throw new RollcallError("WRONG_STATE", `this session of ${host} is over: join again`);
  }

  ask(host: string, task: OutpostTask, by: By): Promise<string | undefined> {
    const desk = this.#desks.get(host);
    if (desk) return desk.requests.ask(task, by.principal.name);
    const isKnown = this.#options.engine.peek(({ outposts }) => outposts.byHost.has(host));
    const error = isKnown
      ? new RollcallError("UNAVAILABLE", `the outpost of ${host} has no connection`)
      : new RollcallError("NOT_FOUND", `no outpost of ${host}`);
    return Promise.reject(error);
  }

  answer(host: string, session: string, { id, answer }: Answering): boolean {
    return this.requests(host, session).answer(id, answer);
  }

  list(): Promise<readonly ListedOutpost[]> {
    return this.#options.engine.read(({ outposts, reports }) =>
      Array.from(outposts.byHost.values(), ({ outpost, seenAtMs }) => ({
        outpost,
        seenAtMs,
        agents: new Set(
          [...reports.ofHost.of(outpost.host)].map(
            (each) => reports.byAlias.get(each)?.report.agentId,
          ),
        ).size,
        isConnected: this.#desks.get(outpost.host)?.requests.hasStream ?? false,
      })),
    );
  }

  close(): void {
    for (const { requests } of this.#desks.values()) requests.end();
  }

  #desk(host: string): Desk {
    const known = this.#desks.get(host);
    if (known) return known;
    const requests = new OutpostRequests(host, this.#options.clock);
    const desk: Desk = { requests, session: "", isTaking: false, told: undefined };
    this.#desks.set(host, desk);
    return desk;
  }
}

function isEnd(whole: WholePart | undefined): boolean {
  return whole === "last" || whole === "only";
}

interface Joining {
  readonly facts: OutpostFacts;
  readonly clockMs: number;
}

interface Answering {
  readonly id: string;
  readonly answer: OutpostAnswer;
}
