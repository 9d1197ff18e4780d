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
import type { Job, JobStep } from "../../src/core/jobs.ts";
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
  const begins = new Map<string, number[]>();
  const ledger = new Ledger(fail);
  for (const append of appendsOf({ archive, recorded, streams })) {
    for (const event of append.events) {
      if (event.type === "job.submitted") {
        const stream = jobStream(event.job.id);
        ends.delete(stream);
        begins.set(stream, [...(begins.get(stream) ?? []), append.step]);
      }
      if (event.type === "job.ended") ends.set(jobStream(event.job.id), append.step);
    }
    ledger.take(append);
  }
  for (const [stream, entries] of streams) {
    if (!stream.startsWith("job/")) continue;
    const begunAt = begins.get(stream) ?? [];
    checkStream(stream, entries, { begunAt, endedAt: ends.get(stream), fail });
  }
}

interface Bounds {
  /** The steps at which a job of this id was submitted. */
  readonly begunAt: readonly number[];
  readonly endedAt: number | undefined;
  readonly fail: Fail;
}

function checkStream(
  stream: string,
  entries: readonly DurableEntry[],
  { begunAt, endedAt, fail }: Bounds,
): void {
  let jobs = 0;
  let next = 0;
  let isOver = false;
  let hasInput = false;
  for (const [i, { text, step }] of entries.entries()) {
    const { kind, body } = decodeEntry(text);
    // A submit that comes twice, the second time after the job was forgotten, is another job.
    const begun = begunAt.filter((at) => at <= step).length;
    const isAnother = isOver && begun > jobs;
    if (isAnother || i === 0) jobs = begun;
    if (isOver && !isAnother) fail("nothing follows the end", `${stream} at ${i + 1}`);
    isOver = kind === "end";
    // A job for another node than the one that decided it was never given any.
    hasInput = (hasInput && !isAnother) || kind === "input";
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
  readonly entries: AppendedEntry[];
}

interface AppendedEntry {
  readonly jobId: string;
  readonly entry: JobStreamEntry;
}

function isInput({ entry }: AppendedEntry): boolean {
  return entry.kind === "input";
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
    const given = new Set(entries.flatMap((each) => (isInput(each) ? [each.jobId] : [])));
    // A job for another node than the one that decided it, or asked of a node before that led, is
    // nobody's to run, nor to write down. Clients' jobs keep their input; those of jobs may not.
    for (const job of begun) {
      const isGiven = given.has(job.id) || job.delegateId !== undefined;
      if (job.node === writer && isGiven) this.#open(job);
      else this.#accounts.delete(job.id);
    }
    this.#giveBack(ended, 1);
    for (const { id, budget = {} } of ended) this.#compare(id, budget, {});
    const spent = new Map<string, Record<string, number>>();
    for (const { jobId, entry } of entries) {
      const own = spent.get(jobId) ?? {};
      spent.set(jobId, own);
      const { currency, sum } = costOf(entry);
      own[currency] = (own[currency] ?? 0) + sum;
      if (entry.kind === "budget") this.#compare(jobId, budgetOf(entry), own);
    }
    for (const { parent, budget = {} } of begun) this.#take(parent, budget);
    this.#giveBack(ended, -1);
    for (const [jobId, costs] of spent) this.#take(jobId, costs);
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

  /** What is left at an end goes to a job above: not to one that ended just before it. */
  #giveBack(ended: readonly JobStep[], sign: 1 | -1): void {
    const over = new Set<string>();
    for (const { id, parent, budget } of ended) {
      for (const [currency, sum] of Object.entries(signed(budget, sign))) {
        credit(this.#payer(parent, currency, over), currency, Number(sum));
      }
      over.add(id);
    }
  }

  /** Takes from the job's own budget, or from the nearest one above it of such a currency. */
  #take(jobId: string, sums: Readonly<Record<string, string | number>>): void {
    for (const [currency, sum] of Object.entries(sums)) {
      credit(this.#payer(jobId, currency), currency, -Number(sum));
    }
  }

  /** The nearest job, this one or one above it, that has not ended and has such a budget. */
  #payer(jobId: string, currency: string, over?: ReadonlySet<string>): Account | undefined {
    for (let each = this.#accounts.get(jobId); each; each = this.#accounts.get(each.job.parent)) {
      const isOver = each.isOver || over?.has(each.job.id);
      if (!isOver && each.left.has(currency)) return each;
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

function credit(account: Account | undefined, currency: string, sum: number): void {
  account?.left.set(currency, (account.left.get(currency) ?? 0) + sum);
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
