/**
 * Checks the streams of jobs, and streams and log together: they are one commit.
 *
 * - What an agent counts from 0 is there without a gap and without a repeat; it begins anew where
 *   the job says that it was restarted.
 * - A job that runs again gets the input that it got first.
 * - A stream ends with the end of its job, in the very append that has the event.
 * - What is left of a budget is never more than was granted, less what the job and its children
 *   are known to have spent: whoever wrote it down, before or after a crash.
 */
import type { Event, RecordedEvent } from "../../src/core/events.ts";
import {
  budgetOf,
  decodeEntry,
  jobStream,
  type JobStreamEntry,
} from "../../src/core/job-stream.ts";
import type { Counters } from "../../src/core/jobs/budget.ts";
import type { MetricBody } from "../../src/core/jobs/events.ts";
import type { Job } from "../../src/core/jobs.ts";
import type { Durable, DurableEntry } from "./sim-disk.ts";
import { INPUT_LOST } from "./sim-jobs.ts";

type Fail = (invariant: string, detail: string) => void;

export interface Written {
  readonly archive: readonly Durable[];
  readonly recorded: readonly RecordedEvent[];
  readonly streams: ReadonlyMap<string, readonly DurableEntry[]>;
}

export function checkStreams({ archive, recorded, streams }: Written, fail: Fail): void {
  const ends = new Map<string, number>();
  const ledger = new Ledger(fail);
  for (const append of appendsOf({ archive, recorded, streams })) {
    for (const event of append.events) {
      if (event.type === "job.submitted") ends.delete(jobStream(event.job.id));
      if (event.type === "job.ended") ends.set(jobStream(event.job.id), append.step);
    }
    ledger.take(append);
  }
  for (const [stream, entries] of streams) {
    if (stream.startsWith("job/"))
      checkStream(stream, entries, { endedAt: ends.get(stream), fail });
  }
}

function checkStream(
  stream: string,
  entries: readonly DurableEntry[],
  { endedAt, fail }: { readonly endedAt: number | undefined; readonly fail: Fail },
): void {
  let next = 0;
  let isOver = false;
  let hasInput = false;
  for (const [i, { text, step }] of entries.entries()) {
    const { kind, body } = decodeEntry(text);
    // A submit that comes twice, the second time after the job was forgotten, is another job.
    const isAnother = isOver && kind === "input";
    if (isOver && !isAnother) fail("nothing follows the end", `${stream} at ${i + 1}`);
    isOver = kind === "end";
    // A job for another node than the one that decided it was never given any.
    hasInput ||= kind === "input";
    if (hasInput && isOver && body.includes(INPUT_LOST)) fail("a job keeps its input", stream);
    if (isAnother || (kind === "status" && body.includes('"restarted"'))) next = 0;
    if (kind === "log") {
      const { message } = JSON.parse(body) as { readonly message: string };
      if (message !== String(next)) {
        fail("a stream has no gap and no repeat", `${stream}: ${message} instead of ${next}`);
      }
      next += 1;
    }
    if (i < entries.length - 1) continue;
    const isOne = isOver ? step === endedAt : endedAt === undefined;
    if (!isOne) fail("log and streams are one commit", `${stream} ends with ${kind}`);
  }
}

interface Append {
  readonly step: number;
  /** The node that wrote it. */
  writer: string;
  readonly events: Event[];
  readonly entries: { readonly jobId: string; readonly entry: JobStreamEntry }[];
}

/** All that became durable together, in order. */
function appendsOf({ archive, recorded, streams }: Written): readonly Append[] {
  const byStep = new Map<number, Append>();
  const at = (step: number): Append => {
    const append = byStep.get(step) ?? { step, writer: "", events: [], entries: [] };
    byStep.set(step, append);
    return append;
  };
  for (const [i, { step, writer }] of archive.entries()) {
    const append = at(step);
    append.writer = writer;
    const event = recorded[i]?.event;
    if (event) append.events.push(event);
  }
  for (const [stream, entries] of streams) {
    const jobId = stream.slice("job/".length);
    for (const { text, step } of entries)
      at(step).entries.push({ jobId, entry: decodeEntry(text) });
  }
  return [...byStep.values()].toSorted((a, b) => a.step - b.step);
}

interface Account {
  readonly job: Job;
  /** The most that can be left, by currency. */
  readonly left: Map<string, number>;
  isOver: boolean;
}

/** Counts from what is durable alone how much can be left of each budget. */
class Ledger {
  readonly #fail: Fail;
  readonly #accounts = new Map<string, Account>();

  constructor(fail: Fail) {
    this.#fail = fail;
  }

  /**
   * An append may be several batches: a budget that was written down in the first one knows nothing
   * of what others spent in the second. So it is compared with what was left before and came back,
   * less what its own job spent until then; all the rest is taken off afterwards.
   */
  take({ writer, events, entries }: Append): void {
    const begun = events.flatMap((event) => (event.type === "job.submitted" ? [event.job] : []));
    const ended = events.flatMap((event) => (event.type === "job.ended" ? [event.job] : []));
    // A job for another node than the one that decided it is nobody's to run, nor to write down.
    for (const job of begun) if (job.node === writer) this.#open(job);
    for (const { parent, budget } of ended) this.#move(parent, signed(budget, 1), 1);
    for (const { id, budget = {} } of ended) this.#compare(id, budget, {});
    const spent = new Map<string, Record<string, number>>();
    for (const { jobId, entry } of entries) {
      const own = spent.get(jobId) ?? {};
      spent.set(jobId, own);
      const { currency, sum } = costOf(entry);
      own[currency] = (own[currency] ?? 0) + sum;
      if (entry.kind === "budget") this.#compare(jobId, budgetOf(entry), own);
    }
    for (const { parent, budget = {} } of begun) this.#move(parent, budget, -1);
    for (const { parent, budget } of ended) this.#move(parent, signed(budget, -1), 1);
    for (const [jobId, costs] of spent) this.#move(jobId, costs, -1);
    for (const { id } of ended) {
      const account = this.#accounts.get(id);
      if (account) account.isOver = true;
    }
  }

  #open(job: Job): void {
    const left = new Map(
      Object.entries(job.budget ?? {}).map(([name, sum]) => [name, Number(sum)]),
    );
    this.#accounts.set(job.id, { job, left, isOver: false });
  }

  /** Of the job's own budget, or of the nearest one above it that has such a currency. */
  #move(jobId: string, sums: Readonly<Record<string, string | number>>, sign: 1 | -1): void {
    for (const [currency, sum] of Object.entries(sums)) {
      const account = this.#payer(jobId, currency);
      account?.left.set(currency, (account.left.get(currency) ?? 0) + sign * Number(sum));
    }
  }

  /** The nearest job, this one or one above it, that has not ended and has such a budget. */
  #payer(jobId: string, currency: string): Account | undefined {
    for (let each = this.#accounts.get(jobId); each; each = this.#accounts.get(each.job.parent)) {
      if (!each.isOver && each.left.has(currency)) return each;
    }
    return undefined;
  }

  #compare(jobId: string, counters: Counters, spent: Readonly<Record<string, number>>): void {
    const account = this.#accounts.get(jobId);
    for (const [currency, left] of Object.entries(counters)) {
      const before = account?.left.get(currency);
      if (before === undefined) continue;
      const most = before - (spent[currency] ?? 0);
      if (Number(left) <= most) continue;
      const detail = `${jobId} has ${currency} ${left}, at most ${most} can be left`;
      this.#fail("a budget never goes up by itself", detail);
    }
  }
}

/** The counters above zero, or those below. */
function signed(counters: Counters = {}, sign: 1 | -1): Record<string, string> {
  return Object.fromEntries(Object.entries(counters).filter(([, sum]) => Number(sum) * sign > 0));
}

/** The cost that an entry tells of; 0 for none. */
function costOf({ kind, body }: JobStreamEntry): { currency: string; sum: number } {
  if (kind !== "metric") return { currency: "", sum: 0 };
  const { name, value, unit } = JSON.parse(body) as MetricBody;
  return { currency: unit ?? "", sum: name === "cost.tokens" ? value : 0 };
}
