/**
 * Bugs to plant, one at a time: proof that the simulator can fail. Each is a mistake somebody could
 * make, planted from outside in what the engine is given (its rules, or its log), or in what views
 * are told.
 */
import { ITSELF } from "../../src/core/by.ts";
import { decided } from "../../src/core/decide.ts";
import type { Event, Topic } from "../../src/core/events.ts";
import { codeOf } from "../../src/core/errors.ts";
import { decodeEntry, JOB_STREAMS } from "../../src/core/job-stream.ts";
import { rules, type Rules } from "../../src/core/rules.ts";
import type { State } from "../../src/core/state.ts";
import type { Log, LogBatch } from "../../src/log/log.ts";
import type { Streams } from "../../src/log/streams.ts";
import { CALM_LOG, CALM_NETWORK, type Profile } from "./profile.ts";

export interface Plant {
  readonly name: string;
  /** The invariant it breaks first of all; it may show in other ways as well. */
  readonly breaks: string;
  readonly rules?: Rules;
  readonly wrap?: (log: Log) => Log;
  readonly streams?: (streams: Streams) => Streams;
  /** Events that the views beside the state are not told of. */
  readonly unheard?: Topic;
  /** Where it shows: some bugs take a rare meeting of troubles. */
  readonly world?: (profile: Profile) => Profile;
}

/**
 * A leader that is quiet, a follower that does not hear it and takes over, and clients that read:
 * for as long as the old leader does not know, it answers from memory.
 */
const LULLS: Partial<Profile> = {
  shared: true,
  nodes: 2,
  clients: 5,
  thinkMs: 80,
  isBursty: false,
  everyMs: 1500,
  troubles: ["lull"],
  log: { ...CALM_LOG, latencyMs: 0.5 },
  network: { ...CALM_NETWORK, latencyMs: 1 },
  failover: "calm",
  readShare: 0.7,
};

export const PLANTS: readonly Plant[] = [
  {
    name: "token not monotonic",
    breaks: "tokens strictly increase over all grants",
    rules: forgetfulTokens(),
  },
  { name: "reply before durable", breaks: "the log bears every answer out", wrap: hasty },
  { name: "cascade forgotten", breaks: "the dead hold nothing", rules: heartlessDeaths() },
  { name: "leader without fence", breaks: "one node leads at a time", wrap: unfenced },
  { name: "job ended twice", breaks: "a job ends once", rules: endlessEnds() },
  {
    name: "budget restored too high",
    breaks: "a budget never goes up by itself",
    streams: forgetfulBudgets,
  },
  { name: "caller forgotten", breaks: "nobody acts for another's", rules: blindRules() },
  {
    name: "cursor forgotten",
    breaks: "what an outpost sends is taken once and in order",
    rules: forgetfulJoins(),
  },
  {
    name: "row not made anew",
    breaks: "rows that are kept are those that their facts give",
    unheard: "lease.released",
  },
  {
    name: "signs not compared",
    breaks: "the log bears every answer out",
    wrap: headsOnly,
    world: (profile) => ({ ...profile, ...LULLS }),
  },
  {
    name: "append id not deduplicated",
    breaks: "one node leads at a time",
    wrap: insistent,
    world: (profile) => ({ ...profile, log: { ...profile.log, loseAnswer: 0.03, giveUp: 1 } }),
  },
  { name: "watch gap", breaks: "a watcher sees exactly the log it asked for", wrap: skipping },
];

/** For the simulator of a whole ARCP runtime. */
export const ARCP_PLANTS: readonly Plant[] = [
  { name: "event twice after a resume", breaks: "all of a job, once", streams: oneEarly },
  {
    name: "budget restored too high",
    breaks: "a budget never goes up by itself",
    streams: forgetfulBudgets,
  },
];

/** An outpost that comes back is told to begin anew: what was taken is taken again. */
function forgetfulJoins(): Rules {
  return {
    ...rules,
    decide(state, command, moment) {
      const decision = rules.decide(state, command, moment);
      const [joined] = decision.ok ? decision.events : [];
      if (joined?.type !== "outpost.joined") return decision;
      const outpost = { ...joined.outpost, cursor: "" };
      return decided([{ type: "outpost.joined", outpost }], outpost);
    },
  };
}

/** The next token is one above those held now, as if nobody remembered those that were returned. */
function forgetfulTokens(): Rules {
  return {
    ...rules,
    decide(state, command, moment) {
      const decision = rules.decide(state, command, moment);
      if (!decision.ok || command.type !== "lease.acquire") return decision;
      const token = Math.max(0, ...[...state.leases.byTask.values()].map((e) => e.lease.token)) + 1;
      const [granted] = decision.events;
      if (granted?.type !== "lease.acquired") return decision;
      const lease = { ...granted.lease, token };
      return { ok: true, events: [{ ...granted, lease }], reply: { acquired: true, lease } };
    },
  };
}

/** An agent dies, and its leases stay with it. */
function heartlessDeaths(): Rules {
  const isKept = (event: Event) => event.type !== "lease.released" || event.cause === "released";
  return {
    ...rules,
    decide(state, command, moment) {
      const decision = rules.decide(state, command, moment);
      return decision.ok ? { ...decision, events: decision.events.filter(isKept) } : decision;
    },
    expire: (state: State, nowMs: number) => rules.expire(state, nowMs).filter(isKept),
  };
}

/** Ends a job without a look at whether it has ended. */
function endlessEnds(): Rules {
  return {
    ...rules,
    decide(state, command, moment) {
      const job = command.type === "job.end" ? state.jobs.byId.get(command.jobId)?.job : undefined;
      if (!job || job.endedAtMs === 0) return rules.decide(state, command, moment);
      return { ok: true, events: [{ type: "job.ended", job }], reply: { isEnded: true } };
    },
  };
}

/** Looks at nobody: whoever asks, it is as if the engine itself did. */
function blindRules(): Rules {
  return {
    ...rules,
    decide: (state, command, moment) => rules.decide(state, command, { ...moment, by: ITSELF }),
  };
}

/** After a start nobody reads what was left: the budget is again what was granted. */
function forgetfulBudgets(streams: Streams): Streams {
  return replaced(streams, {
    async *read(stream, after) {
      for await (const { first, entries } of streams.read(stream, after)) {
        const isBudget = (text: string) => decodeEntry(text).kind === "budget";
        yield { first, entries: entries.map((text) => (isBudget(text) ? "0 0 log {}" : text)) };
      }
    },
  });
}

/**
 * A job's stream is read from one entry too early, but for its beginning. Who reads on after a
 * resume, or follows on after a start, is given the last event again, under the next number.
 */
function oneEarly(streams: Streams): Streams {
  return replaced(streams, {
    async *read(stream, after) {
      const isShifted = after > 0 && stream.startsWith(JOB_STREAMS);
      for await (const page of streams.read(stream, isShifted ? after - 1 : after)) {
        yield isShifted ? { first: page.first + 1, entries: page.entries } : page;
      }
    },
  });
}

/** Every call as it is, but for some. */
export function replaced(streams: Streams, calls: Partial<Streams>): Streams {
  return {
    append: (stream, entries, expectedHead) => streams.append(stream, entries, expectedHead),
    appendAll: (appends) => streams.appendAll(appends),
    read: (stream, after) => streams.read(stream, after),
    range: (stream) => streams.range(stream),
    ranges: (prefix) => streams.ranges(prefix),
    trim: (stream, through) => streams.trim(stream, through),
    remove: (...names) => streams.remove(...names),
    ...calls,
  };
}

/** Every call as it is, for plants to change one. */
function passing(log: Log): Log {
  return {
    shared: log.shared,
    limits: log.limits,
    open: () => log.open(),
    append: (batch, at, options) => log.append(batch, at, options),
    read: (after, afterId) => log.read(after, afterId),
    follow: (after, afterId, signal) => log.follow(after, afterId, signal),
    saveSnapshot: (snapshot) => log.saveSnapshot(snapshot),
    loadSnapshot: (atOrBefore) => log.loadSnapshot(atOrBefore),
    truncate: (through) => log.truncate(through),
    close: () => log.close(),
  };
}

/** Says "durable" when it has only sent the append. */
function hasty(log: Log): Log {
  let last: Promise<unknown> = Promise.resolve();
  return {
    ...passing(log),
    append(batch, at, options) {
      const before = last;
      last = before.then(() => log.append(batch, at, options)).catch(() => undefined);
      const head = at.head + batch.entries.length;
      return before.then(() => ({ head, mark: log.shared ? at.mark + 1 : head }));
    },
  };
}

/** Appends wherever the head is. */
function unfenced(log: Log): Log {
  return {
    ...passing(log),
    async append(batch, _at, options) {
      for (;;) {
        const now = await log.open();
        try {
          return await log.append(batch, now, options);
        } catch (error) {
          if (codeOf(error) !== "FENCED") throw error;
        }
      }
    },
  };
}

/** Takes part in no comparison of marks: whoever knows the head may append. */
function headsOnly(log: Log): Log {
  return {
    ...passing(log),
    async append(batch, at, options) {
      try {
        return await log.append(batch, at, options);
      } catch (error) {
        if (codeOf(error) !== "FENCED") throw error;
        const { mark } = await log.open();
        return log.append(batch, { head: at.head, mark }, options);
      }
    },
  };
}

/** Appends again, as something new, what it does not know the outcome of. */
function insistent(log: Log): Log {
  return {
    ...passing(log),
    async append(batch, at, options) {
      for (let tries = 1; ; tries += 1) {
        const here = tries === 1 ? at : await log.open();
        try {
          return await log.append(batch, here, { id: `${options.id}/${tries}` });
        } catch (error) {
          if (codeOf(error) !== "OUTCOME_UNKNOWN") throw error;
        }
      }
    },
  };
}

/**
 * The second page of a replay begins one entry late. A state is loaded right after its snapshot was
 * asked for, and that goes well: only those who watch miss something.
 */
function skipping(log: Log): Log {
  let isLoading = false;
  return {
    ...passing(log),
    loadSnapshot(atOrBefore) {
      isLoading = atOrBefore === Infinity;
      return log.loadSnapshot(atOrBefore);
    },
    read(after, afterId) {
      const pages = log.read(after, afterId);
      if (!isLoading) return withGap(pages);
      isLoading = false;
      return pages;
    },
  };
}

async function* withGap(pages: AsyncIterable<LogBatch>): AsyncGenerator<LogBatch> {
  let isFirst = true;
  for await (const page of pages) {
    const { first, entries } = page;
    yield isFirst ? page : { ...page, first: first + 1, entries: entries.slice(1) };
    isFirst = false;
  }
}
