/**
 * The frames that older programs kept, turned into streams of today: what a job said goes to the
 * stream of that job, and the stream of the session says which of its frames that is.
 *
 *   arcp/session/S   1: frame of job A    ──▶  job/A      1: entry, 2: entry
 *                    2: frame of job A         session/S  1 A 1 2
 *                    3: copy of job B                     3 B ! …
 *
 * A frame of a job that the session follows is a copy; it stays one, whole. So does a frame of a
 * job that is forgotten, so that no number is missing.
 *
 * A batch writes to all these streams at once, and a batch begins where the one before it ended. So
 * the last number of a session's new stream says how far it got, whenever it was cut off.
 */
import {
  decodeSessionEntry,
  encodeEntry,
  encodeSessionEntry,
  isNotice,
  jobStream,
  lastSeqOf,
  sessionStream,
  type SessionStreamEntry,
} from "../../../core/job-stream.ts";
import type { Streams } from "../../../log/streams.ts";
import { FRAME_STREAMS, framesAfter, isLagNotice, readLedgerFrame } from "./frames.ts";
import type { LedgerJob } from "./records.ts";

/** Enough for a sync to be worth it, few enough to hold in memory. */
const BATCH = { frames: 1024, length: 1 << 20 } as const;

export class FrameImport {
  readonly #streams: Streams;
  readonly #jobs: ReadonlyMap<string, LedgerJob>;
  /** Where the streams of jobs end, with what this batch adds. */
  readonly #heads = new Map<string, number>();
  readonly #entries = new Map<string, string[]>();
  readonly #numbers = new Map<string, SessionStreamEntry[]>();
  #frames = 0;
  #length = 0;

  constructor(streams: Streams, jobs: ReadonlyMap<string, LedgerJob>) {
    this.#streams = streams;
    this.#jobs = jobs;
  }

  async take(sessionId: string): Promise<void> {
    const { oldest, head } = await this.#streams.range(FRAME_STREAMS + sessionId);
    const done = await this.#lastNumber(sessionId);
    if (done >= head) return;
    // All were acknowledged and forgotten. A span to nothing keeps the last number.
    if (oldest > head) this.#number(sessionId, { seq: head, jobId: "", first: 0, last: 0 });
    for await (const { seq, frame } of framesAfter(this.#streams, sessionId, done)) {
      await this.#takeFrame(sessionId, seq, frame);
      this.#frames += 1;
      this.#length += frame.length;
      if (this.#frames >= BATCH.frames || this.#length >= BATCH.length) await this.write();
    }
  }

  async #lastNumber(sessionId: string): Promise<number> {
    const text = await lastEntry(this.#streams, sessionStream(sessionId));
    return text === undefined ? 0 : lastSeqOf(decodeSessionEntry(text));
  }

  async #takeFrame(sessionId: string, seq: number, frame: string): Promise<void> {
    const { jobId, entry: read } = readLedgerFrame(frame);
    const job = this.#jobs.get(jobId);
    // The ledger knows better than the frame, which has a code of the protocol.
    const isKnown = read.kind === "end" && job?.ending !== undefined;
    const entry = { ...read, seq, ...(isKnown && { body: JSON.stringify(job.ending) }) };
    if (job?.session !== sessionId || isAfterItsEnd(job, seq) || isLagNotice(entry)) {
      return this.#number(sessionId, { ...entry, jobId });
    }
    const position = 1 + (this.#heads.get(jobId) ?? (await this.#headOf(jobId)));
    this.#heads.set(jobId, position);
    listOf(this.#entries, jobId).push(encodeEntry(entry));
    this.#number(sessionId, { seq, jobId, first: position, last: position });
  }

  async #headOf(jobId: string): Promise<number> {
    return (await this.#streams.range(jobStream(jobId))).head;
  }

  /** Frames that follow each other in one job are one span. */
  #number(sessionId: string, entry: SessionStreamEntry): void {
    const numbers = listOf(this.#numbers, sessionId);
    const before = numbers.at(-1);
    const isNext =
      before !== undefined &&
      !isNotice(before) &&
      !isNotice(entry) &&
      before.jobId === entry.jobId &&
      before.last === entry.first - 1;
    if (isNext) numbers[numbers.length - 1] = { ...before, last: entry.last };
    else numbers.push(entry);
  }

  /** Writes what was taken since the last call. */
  async write(): Promise<void> {
    if (this.#numbers.size === 0) return;
    const jobs = Array.from(this.#entries, ([id, entries]) => ({ stream: jobStream(id), entries }));
    const sessions = Array.from(this.#numbers, ([id, numbers]) => ({
      stream: sessionStream(id),
      entries: numbers.map(encodeSessionEntry),
    }));
    this.#entries.clear();
    this.#numbers.clear();
    this.#frames = 0;
    this.#length = 0;
    await this.#streams.appendAll([...jobs, ...sessions]);
  }
}

/** A client that asks for a job of its own once more, when it has ended, is told of it again. */
function isAfterItsEnd({ pieces }: LedgerJob, seq: number): boolean {
  return pieces !== undefined && seq > (pieces.at(-1)?.[1] ?? 0);
}

function listOf<Item>(lists: Map<string, Item[]>, name: string): Item[] {
  const known = lists.get(name);
  if (known) return known;
  const made: Item[] = [];
  lists.set(name, made);
  return made;
}

export async function lastEntry(streams: Streams, stream: string): Promise<string | undefined> {
  const { head } = await streams.range(stream);
  if (head === 0) return undefined;
  for await (const { entries } of streams.read(stream, head - 1)) return entries.at(-1);
  return undefined;
}
