/**
 * The jobs that have not ended, as their streams have them: read before a node leads, so that they
 * can run again from their beginning, with what is left of their budget.
 *
 * All callers of a cluster wait for this, and a stream may be large. So that of a running job which
 * cannot run again and has no budget is not read: that job is about to end, and all that it takes
 * to write this down is where the stream ends.
 */
import { budgetOf, decodeEntry, jobStream } from "../core/job-stream.ts";
import { isTerminal } from "../core/jobs/outcome.ts";
import { restoreBudget, type Job, type JobEntry } from "../core/jobs.ts";
import type { State } from "../core/state.ts";
import type { Streams } from "../log/streams.ts";
import { STREAM } from "./limits.ts";
import type { StreamFill } from "./run.ts";

export interface UnfinishedJob extends StreamFill {
  readonly entry: JobEntry;
  /** Whether it may run again: then its stream was read. */
  readonly again: boolean;
}

interface UnfinishedSources {
  readonly state: State;
  readonly streams: Pick<Streams, "range" | "read">;
  readonly runsAgain: (job: Job) => boolean;
}

/** The unfinished jobs of the state, budgets restored. A parent comes before its children. */
export async function unfinishedJobs(
  sources: UnfinishedSources,
): Promise<readonly UnfinishedJob[]> {
  const { state } = sources;
  const unfinished = [...state.jobs.byId.values()].filter(({ job }) => !isTerminal(job.status));
  const found: UnfinishedJob[] = [];
  for (let at = 0; at < unfinished.length; at += STREAM.foundAtOnce) {
    const some = unfinished.slice(at, at + STREAM.foundAtOnce);
    found.push(...(await Promise.all(some.map((entry) => find(sources, entry)))));
  }
  return parentsFirst(found.sort((a, b) => (a.entry.job.id < b.entry.job.id ? -1 : 1)));
}

/** Ids do not always grow from parent to child: the clock of the next leader may be behind. */
function parentsFirst(found: readonly UnfinishedJob[]): readonly UnfinishedJob[] {
  const byId = new Map(found.map((each) => [each.entry.job.id, each]));
  const placed = new Set<UnfinishedJob>();
  const place = (each: UnfinishedJob) => {
    const parent = byId.get(each.entry.job.parent);
    if (parent && !placed.has(parent)) place(parent);
    placed.add(each);
  };
  found.forEach(place);
  return [...placed];
}

async function find(
  { state, streams, runsAgain }: UnfinishedSources,
  entry: JobEntry,
): Promise<UnfinishedJob> {
  const { job, purse } = entry;
  const again = runsAgain(job);
  const stream = jobStream(job.id);
  const { oldest, head } = await streams.range(stream);
  const fill = { oldest, head, bytes: 0, lastSeq: 0, inputText: "", inputAt: 0, budgetAt: 0 };
  const isEnding = job.status === "running" && !again && purse.remaining.size === 0;
  if (isEnding) return { entry, again, ...fill };
  for await (const { first, entries } of streams.read(stream, oldest - 1)) {
    for (const [i, text] of entries.entries()) {
      const read = decodeEntry(text);
      fill.bytes += text.length;
      if (read.seq > 0) fill.lastSeq = read.seq;
      if (read.kind === "input") Object.assign(fill, { inputText: read.body, inputAt: first + i });
      if (read.kind !== "budget") continue;
      restoreBudget(state, job.id, budgetOf(read));
      fill.budgetAt = first + i;
    }
  }
  return { entry, again, ...fill };
}
