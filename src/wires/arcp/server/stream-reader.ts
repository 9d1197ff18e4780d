/**
 * Reads back what the frames of a session carry: its stream says which entry of which job.
 *
 * Entries are read by their position. Positions of one job only grow while frames are
 * read in the order of their numbers, so the page that was read last has the next ones, too; a few
 * jobs that alternate each keep their page.
 */
import { RollcallError } from "../../../core/errors.ts";
import {
  decodeEntry,
  decodeSessionEntry,
  isNotice,
  jobStream,
  lastSeqOf,
  type JobStreamEntry,
} from "../../../core/job-stream.ts";
import type { Job } from "../../../core/jobs.ts";
import type { StreamBatch, Streams } from "../../../log/streams.ts";
import type { JobFrame } from "../codec/job-frames.ts";
import { OUTPUT } from "./session-limits.ts";

class JobStreamReader {
  readonly #streams: Streams;
  readonly #pages = new Map<string, StreamBatch>();

  constructor(streams: Streams) {
    this.#streams = streams;
  }

  /** Rejects with OUT_OF_RANGE when it is no longer there. */
  async entry(jobId: string, position: number): Promise<JobStreamEntry> {
    const page = this.#pages.get(jobId);
    const text = page?.entries[position - page.first];
    if (text !== undefined) return decodeEntry(text);
    return decodeEntry(await this.#read(jobId, position));
  }

  async #read(jobId: string, position: number): Promise<string> {
    this.#pages.delete(jobId);
    for await (const page of this.#streams.read(jobStream(jobId), position - 1)) {
      if (this.#pages.size >= OUTPUT.readJobs) {
        for (const oldest of this.#pages.keys()) {
          this.#pages.delete(oldest);
          break;
        }
      }
      this.#pages.set(jobId, page);
      const text = page.entries[position - page.first];
      if (text !== undefined) return text;
      break;
    }
    throw new RollcallError("OUT_OF_RANGE", `entry ${position} of ${jobId} is no longer there`);
  }
}

export interface StreamPlace {
  readonly stream: string;
  readonly position: number;
  /** The last position to read: the end, unless it says otherwise. */
  readonly through?: number;
}

export interface NumberedEntry {
  readonly seq: number;
  /** Of a notice about a job that is forgotten, only its id. */
  readonly job: JobFrame["job"];
  readonly entry: JobStreamEntry;
}

export interface NumberedSource {
  readonly streams: Streams;
  readonly job: (jobId: string) => Job | undefined;
}

/** The entries of the frames after a number. OUT_OF_RANGE where they are no longer there. */
export async function* numberedEntries(
  { streams, job: jobOf }: NumberedSource,
  place: StreamPlace,
  after: number,
): AsyncGenerator<NumberedEntry> {
  const reader = new JobStreamReader(streams);
  const { stream, position: from, through = Infinity } = place;
  const { oldest } = await streams.range(stream);
  for await (const { first, entries } of streams.read(stream, Math.max(from, oldest - 1))) {
    const wanted = entries.slice(0, Math.max(0, through - first + 1));
    for (const read of wanted.map(decodeSessionEntry)) {
      if (lastSeqOf(read) <= after) continue;
      const job = jobOf(read.jobId);
      if (isNotice(read)) {
        yield { seq: read.seq, job: job ?? { id: read.jobId }, entry: read };
        continue;
      }
      if (!job) throw new RollcallError("OUT_OF_RANGE", `${read.jobId} is forgotten`);
      for (let seq = Math.max(read.seq, after + 1); seq <= lastSeqOf(read); seq += 1) {
        const position = read.first + seq - read.seq;
        yield { seq, job, entry: await reader.entry(read.jobId, position) };
      }
    }
  }
}
