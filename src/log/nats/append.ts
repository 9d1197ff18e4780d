/**
 * One append, sent until its outcome is known or its time is over.
 *
 *   sent ──▶ written
 *     │  ╲─▶ refused, by the mark or by a stream: the message after the mark tells whether it is
 *     │      there already (an answer was lost), or another one fences it
 *     └────▶ lost: it may be written, or will be. Sent again it is written or refused, and then
 *            the lost one is known, too. Else, in the end: OUTCOME_UNKNOWN.
 *
 * Each append to the log follows the mark, which is the sequence of the last one: the leader
 * compares. So the same append can never be written twice, and needs no memory of ids in the
 * server. Appends to streams follow the last message of each stream in the same way.
 */
import { randomUUID } from "node:crypto";
import { RollcallError } from "../../core/errors.ts";
import { LOG } from "../../core/limits.ts";
import { fenceAt, joinEntries } from "../entries.ts";
import type { AppendBatch, AppendOptions, LogPosition } from "../log.ts";
import { longer, waited } from "../retry.ts";
import type { StreamAppend } from "../streams.ts";
import type { Outgoing } from "./driver.ts";
import {
  isPassing,
  Lost,
  natsError,
  NotSent,
  Refused,
  TOO_LARGE_BATCH,
  WRONG_SEQUENCE,
} from "./failure.ts";
import type { Heads } from "./heads.ts";
import { NATS } from "./limits.ts";
import { subjectOf } from "./names.ts";
import { expecting, send } from "./send.ts";
import type { NatsSession } from "./session.ts";
import { logHeaders, type LogEnd } from "./stored.ts";

interface LogAppend {
  readonly batch: AppendBatch;
  readonly at: LogPosition;
  readonly options: AppendOptions;
}

/** One try: what to send, and after a refusal by a sequence what is there instead. */
interface Work<Result> {
  readonly attempt: (trial: Trial) => Promise<Result>;
  /** Gives nothing when it is to be tried again; rejects when another one fences it. */
  readonly settle: (trial: Trial) => Promise<Result | undefined>;
}

export async function appendToLog(
  session: NatsSession,
  heads: Heads,
  { batch, at, options }: LogAppend,
): Promise<LogPosition> {
  const { entries, streams = [] } = batch;
  const { id, withinMs = LOG.appendWithinMs } = options;
  const body = joinEntries(entries);
  const count = entries.length;
  const isSign = count === 0;
  return tried(new Trial(session, withinMs), {
    attempt: async (trial) => {
      const end = await endAt(session, at);
      if (!end) throw new Refused(WRONG_SEQUENCE, "the mark has moved");
      if (end.head !== at.head) throw fence(end, at, id);
      const headers = {
        ...logHeaders({
          head: at.head + count,
          count,
          id,
          previous: end.lastId,
          logId: session.logId,
        }),
        ...expecting(at.mark, session.names.log),
        ...(isSign && { "Nats-Rollup": "sub" }),
      };
      const subject = isSign ? session.names.sign : session.names.entries;
      const parts = await heads.messagesOf(streams, id);
      const mark = await trial.send([{ subject, body, headers }, ...parts]);
      const head = at.head + count;
      heads.written(streams, parts, mark + 1);
      session.moveTo({ head, mark, lastId: isSign ? end.lastId : id });
      session.spots.add({ sequence: mark, head, count });
      return { head, mark };
    },
    settle: async (trial) => {
      const found = await session.nextOf(session.names.log, at.mark + 1);
      heads.forget(streams.map(({ stream }) => stream));
      if (!found) {
        // A server that lags, or one that has lost what was acknowledged.
        const end = await session.look();
        if (end.mark < at.mark) throw fence(end, at, id);
        return undefined;
      }
      session.see(found);
      const position = { head: found.head, mark: found.sequence };
      if (found.id === id) return position;
      // A sign is gone once another one follows it, and its streams may have their entries.
      if (trial.isLost && isSign && streams.length > 0) throw trial.unknown();
      throw fence(position, at, id);
    },
  });
}

/** The end of the log when it stands at that mark. */
async function endAt(session: NatsSession, at: LogPosition): Promise<LogEnd | undefined> {
  const { end } = session;
  if (end?.mark === at.mark) return end;
  const found = await session.look();
  return found.mark === at.mark ? found : undefined;
}

function fence(found: LogPosition, at: LogPosition, id: string): RollcallError {
  return fenceAt(found, at) ?? new RollcallError("FENCED", `append ${id} is fenced`);
}

/** To streams alone; gives the new heads. */
export async function appendToStreams(
  session: NatsSession,
  heads: Heads,
  parts: readonly StreamAppend[],
): Promise<readonly number[]> {
  const id = randomUUID();
  let sent: readonly Outgoing[] = [];
  return tried(new Trial(session, LOG.appendWithinMs), {
    attempt: async (trial) => {
      const messages = await heads.messagesOf(parts, id);
      sent = messages;
      return heads.written(parts, messages, await trial.send(messages));
    },
    settle: async () => {
      heads.forget(parts.map(({ stream }) => stream));
      const [first] = parts;
      const [message] = sent;
      if (!first || !message) return undefined;
      const after = Number(message.headers["Nats-Expected-Last-Subject-Sequence"]);
      const subject = subjectOf(session.names, first.stream);
      const found = await session.nextOf(subject, after + 1);
      if (found?.id !== id) return undefined;
      return heads.written(parts, sent, found.sequence);
    },
  });
}

/** What is known of an append while it is tried. */
class Trial {
  readonly session: NatsSession;
  readonly #withinMs: number;
  readonly #endsMs: number;
  /** Sent, and nobody knows what became of it. */
  isLost = false;
  #isUnderWay = false;
  #answerMs: number = NATS.firstAppendMs;

  constructor(session: NatsSession, withinMs: number) {
    this.session = session;
    this.#withinMs = withinMs;
    this.#endsMs = performance.now() + withinMs;
  }

  isOver(pauseMs: number): boolean {
    return this.session.closing.aborted || performance.now() + pauseMs >= this.#endsMs;
  }

  async send(messages: readonly Outgoing[]): Promise<number> {
    const leftMs = this.#endsMs - performance.now();
    if (leftMs <= 0) throw new NotSent("there is no time left");
    this.#isUnderWay = true;
    try {
      return await send(this.session, messages, Math.min(leftMs, this.#answerMs));
    } catch (error) {
      if (error instanceof Lost) {
        this.isLost = true;
        this.#answerMs = Math.min(2 * this.#answerMs, NATS.answerMs);
      }
      throw error;
    } finally {
      this.#isUnderWay = false;
    }
  }

  /** Rejects when the time is over, whatever is waited for. */
  async inTime<Result>(work: Promise<Result>): Promise<Result> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const onLate = () => {
        const isUnknown = this.isLost || this.#isUnderWay;
        const error = natsError(new NotSent("there was no answer in time"), this.session.place);
        reject(isUnknown ? this.unknown() : error);
      };
      timer = setTimeout(onLate, this.#endsMs - performance.now());
    });
    work.catch(() => undefined);
    return Promise.race([work, late]).finally(() => clearTimeout(timer));
  }

  unknown(cause?: unknown): RollcallError {
    const why = cause instanceof Error ? ` (${cause.message})` : "";
    const { place } = this.session;
    return new RollcallError(
      "OUTCOME_UNKNOWN",
      `NATS at ${place} did not say within ${this.#withinMs} ms whether it wrote${why}`,
      { cause },
    );
  }
}

function tried<Result>(trial: Trial, work: Work<Result>): Promise<Result> {
  return trial.inTime(repeated(trial, work));
}

async function repeated<Result>(trial: Trial, work: Work<Result>): Promise<Result> {
  for (let pauseMs: number = NATS.putAwayMs; ; pauseMs = longer(pauseMs)) {
    try {
      // One that was lost may be there by now, and would fence itself.
      const settled = trial.isLost ? await work.settle(trial) : undefined;
      return settled ?? (await work.attempt(trial));
    } catch (error) {
      if (isFenced(error) && !trial.isLost) throw error;
      if (isFenced(error) || isSequence(error)) {
        const settled = await work.settle(trial);
        if (settled !== undefined) return settled;
        if (isFenced(error)) throw error;
        pauseMs = NATS.busyMs;
      }
      const isOver = trial.isOver(pauseMs);
      if (isOver && trial.isLost) throw trial.unknown(error);
      if (isOver || (!trial.isLost && !mayPass(error))) throw told(trial.session, error);
    }
    await waited(pauseMs, trial.session.closing);
  }
}

function isFenced(error: unknown): boolean {
  return error instanceof RollcallError && error.code === "FENCED";
}

function isSequence(error: unknown): error is Refused {
  return error instanceof Refused && error.code === WRONG_SEQUENCE;
}

function mayPass(error: unknown): boolean {
  return isPassing(error) || isSequence(error);
}

function told(session: NatsSession, error: unknown): RollcallError {
  if (error instanceof Refused && error.code === TOO_LARGE_BATCH) {
    const mend = "set limits { batch { max_msgs } } in jetstream {} of each server";
    const message = `NATS takes no append to so many streams (${error.message}): ${mend}`;
    return new RollcallError("LIMIT_EXCEEDED", message, { cause: error });
  }
  return natsError(error, session.place);
}
