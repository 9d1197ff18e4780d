/**
 * The streams of jobs that are forgotten. They go after the log forgot the jobs, many at a time: a
 * removal costs a sync, for one stream as for a hundred. Those that a crash left behind are found
 * at the next start, in the background.
 */
import { JOB_STREAMS, jobStream } from "../core/job-stream.ts";
import type { Jobs } from "../core/jobs.ts";
import type { Streams } from "../log/streams.ts";
import { STREAM } from "./limits.ts";

export class ForgottenStreams {
  readonly #streams: Streams;
  #names: string[] = [];

  constructor(streams: Streams) {
    this.#streams = streams;
  }

  add(jobIds: readonly string[]): void {
    for (const jobId of jobIds) this.#names.push(jobStream(jobId));
    if (this.#names.length >= STREAM.removedAtOnce) this.remove();
  }

  /** Removes the streams that were added, however few. */
  remove(): void {
    if (this.#names.length === 0) return;
    const names = this.#names;
    this.#names = [];
    // Streams that stay are found at the next start.
    this.#streams.remove(...names).catch(() => undefined);
  }

  /** Adds the streams of jobs that are not there. */
  async find(jobs: Jobs, signal: AbortSignal): Promise<void> {
    for await (const { stream } of this.#streams.ranges(JOB_STREAMS)) {
      if (signal.aborted) return;
      const jobId = stream.slice(JOB_STREAMS.length);
      if (!jobs.byId.has(jobId)) this.add([jobId]);
    }
  }
}
