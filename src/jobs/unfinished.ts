/**
 * The jobs that have not ended, as their streams have them: read before a node leads, so that they
 * can run again from their beginning, with what is left of their budget.
 */
import { budgetOf, decodeEntry, jobStream } from "../core/job-stream.ts";
import { isTerminal } from "../core/jobs/outcome.ts";
import { restoreBudget, type JobEntry } from "../core/jobs.ts";
import type { State } from "../core/state.ts";
import type { Streams } from "../log/streams.ts";
import { STREAM } from "./limits.ts";
import type { StreamFill } from "./run.ts";

export interface UnfinishedJob extends StreamFill {
  readonly entry: JobEntry;
}

/** The unfinished jobs of the state, budgets restored. A parent comes before its children. */
export async function unfinishedJobs(
  state: State,
  streams: Streams,
): Promise<readonly UnfinishedJob[]> {
  const unfinished = [...state.jobs.byId.values()].filter(({ job }) => !isTerminal(job.status));
  const found: UnfinishedJob[] = [];
  for (let at = 0; at < unfinished.length; at += STREAM.foundAtOnce) {
    const some = unfinished.slice(at, at + STREAM.foundAtOnce);
    found.push(...(await Promise.all(some.map((entry) => find(state, streams, entry)))));
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

async function find(state: State, streams: Streams, entry: JobEntry): Promise<UnfinishedJob> {
  const stream = jobStream(entry.job.id);
  const { oldest, head } = await streams.range(stream);
  const fill = { oldest, head, bytes: 0, lastSeq: 0, inputText: "", inputAt: 0, budgetAt: 0 };
  for await (const { first, entries } of streams.read(stream, oldest - 1)) {
    for (const [i, text] of entries.entries()) {
      const read = decodeEntry(text);
      fill.bytes += text.length;
      if (read.seq > 0) fill.lastSeq = read.seq;
      if (read.kind === "input") Object.assign(fill, { inputText: read.body, inputAt: first + i });
      if (read.kind !== "budget") continue;
      restoreBudget(state, entry.job.id, budgetOf(read));
      fill.budgetAt = first + i;
    }
  }
  return { entry, ...fill };
}
