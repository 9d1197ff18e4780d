/**
 * The records of the ledger as commands of core, and the events of those in a few large appends. A
 * command for something that the state has already decides nothing, so all of it may be repeated.
 */
import { ITSELF } from "../../../core/by.ts";
import type { Moment } from "../../../core/decide.ts";
import { refusalError } from "../../../core/errors.ts";
import { encode } from "../../../core/events.ts";
import { decodeEntry, encodeEntry, jobStream } from "../../../core/job-stream.ts";
import { isTerminal } from "../../../core/jobs/outcome.ts";
import type { Job } from "../../../core/jobs.ts";
import { isGone } from "../../../core/questions.ts";
import type { Report } from "../../../core/reports.ts";
import { rules, type Command } from "../../../core/rules.ts";
import type { Session, Subscription } from "../../../core/sessions.ts";
import { ulidTime } from "../../../core/ulid.ts";
import type { Replica } from "../../../engine/replica.ts";
import type { Store } from "../../../log/store.ts";
import type { StreamAppend } from "../../../log/streams.ts";
import type { Ledger, LedgerJob, LedgerSession, LedgerSubscription } from "./records.ts";
import { lastEntry } from "./streams.ts";

/** Of one append. */
const BATCH = { events: 256, length: 1 << 20 } as const;

export interface RecordImportOptions {
  readonly node: string;
  /** The state as the log has it now. */
  readonly replica: Replica;
}

export class RecordImport {
  readonly #store: Store;
  readonly #ledger: Ledger;
  readonly #node: string;
  readonly #replica: Replica;
  readonly #moment: Moment;
  #entries: string[] = [];
  #streams: StreamAppend[] = [];
  #length = 0;

  constructor(store: Store, ledger: Ledger, { node, replica }: RecordImportOptions) {
    this.#store = store;
    this.#ledger = ledger;
    this.#node = node;
    this.#replica = replica;
    // Nothing that is decided here needs an id.
    this.#moment = { nowMs: lastMoment(ledger, replica), newId: () => "", by: ITSELF };
  }

  async run(): Promise<void> {
    const { jobs, sessions, credentials } = this.#ledger;
    const { state } = this.#replica;
    // A parent was made before its children, and ids grow.
    const sorted = [...jobs.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    for (const job of sorted) await this.#importJob(job);
    const known = Array.from(state.jobs.byId.values(), ({ job }) => job);
    for (const job of known.filter(isLost)) await this.#endLost(job);
    await this.#write();
    for (const session of sessions.values()) await this.#importSession(session);
    for (const { jobId, ids } of credentials.values()) {
      if (state.credentials.byJob.has(jobId)) continue;
      await this.#decide(
        ids.length === 0
          ? { type: "credential.request", jobId }
          : { type: "credential.issue", jobId, ids },
      );
    }
    const reports = Array.from(state.reports.byAlias.values(), ({ report }) => report);
    for (const report of reports.filter(isOfJob)) await this.#forgetRow(report);
    await this.#write();
  }

  async #importJob(record: LedgerJob): Promise<void> {
    const principal = this.#ledger.sessions.get(record.session)?.who;
    if (principal === undefined) return;
    const stream = jobStream(record.id);
    const { jobs } = this.#replica.state;
    const { startedAtMs = 0 } = jobs.byId.get(record.id)?.job ?? {};
    const isOver = record.ended !== undefined;
    const last = isOver ? undefined : await lastEntry(this.#store.streams, stream);
    const job: Job = {
      ...jobOf(record),
      principal,
      node: this.#node,
      // The ledger does not say when; the log of a daemon does.
      startedAtMs: record.queued === true ? 0 : startedAtMs || record.at,
      lastSeq: last === undefined ? (record.pieces?.at(-1)?.[1] ?? 0) : decodeEntry(last).seq,
    };
    const kept = isOver ? [] : [{ stream, entries: keptEntries(record) }];
    await this.#decide({ type: "job.import", job }, kept);
  }

  async #endLost(job: Job): Promise<void> {
    const ended: Job = {
      ...job,
      status: "error",
      code: "UNAVAILABLE",
      reason: "the daemon that ran it no longer knows it",
      endedAtMs: this.#moment.nowMs,
      session: "",
    };
    await this.#decide({ type: "job.import", job: ended });
  }

  async #importSession(record: LedgerSession): Promise<void> {
    if (record.gone === true) return;
    const subscriptions: Subscription[] = [];
    for (const followed of this.#ledger.subscriptions.get(record.id)?.values() ?? []) {
      const { s: sessionId, j: jobId } = followed;
      if (!this.#replica.state.jobs.byId.has(jobId)) continue;
      subscriptions.push({ sessionId, jobId, after: await this.#positionOf(followed) });
    }
    await this.#decide({ type: "session.import", session: sessionOf(record), subscriptions });
  }

  /** Through where it has heard the job: all, or what it read of the session that submitted it. */
  async #positionOf({ j, at, live }: LedgerSubscription): Promise<number> {
    const { streams } = this.#store;
    const stream = jobStream(j);
    const { head } = await streams.range(stream);
    for await (const { first, entries } of streams.read(stream, live ? head : 0)) {
      const index = entries.findIndex((text) => decodeEntry(text).seq > at);
      if (index >= 0) return first + index - 1;
    }
    return head;
  }

  /** A job was a row of the fleet of its own; now it stands with its agent. */
  async #forgetRow(report: Report): Promise<void> {
    const { alias, facts } = report;
    if (!isGone(facts.liveness.value)) {
      const liveness = { value: "exited", rule: "the job stands with its agent" } as const;
      const over = { ...report, order: report.order + 1, facts: { liveness } };
      await this.#decide({ type: "fleet.report", report: over });
    }
    await this.#decide({ type: "fleet.forget", alias });
  }

  async #decide(command: Command, streams: readonly StreamAppend[] = []): Promise<void> {
    const { state } = this.#replica;
    const { nowMs } = this.#moment;
    const decision = rules.decide(state, command, this.#moment);
    if (!decision.ok) throw refusalError(decision);
    if (decision.events.length === 0) return;
    for (const event of decision.events) {
      rules.evolve(state, event, nowMs);
      const text = encode(event, nowMs);
      this.#entries.push(text);
      this.#length += text.length;
    }
    for (const append of streams) {
      this.#streams.push(append);
      for (const text of append.entries) this.#length += text.length;
    }
    if (this.#entries.length >= BATCH.events || this.#length >= BATCH.length) await this.#write();
  }

  async #write(): Promise<void> {
    const [entries, streams] = [this.#entries, this.#streams];
    if (entries.length === 0) return;
    this.#entries = [];
    this.#streams = [];
    this.#length = 0;
    const { head, mark } = this.#replica;
    const id = `import.${head}`;
    const position = await this.#store.log.append({ entries, streams }, { head, mark }, { id });
    Object.assign(this.#replica, position, { lastId: id });
  }
}

/** As of the last thing that is known: the same whenever the import runs. */
function lastMoment({ jobs }: Ledger, { state }: Replica): number {
  let lastMs = state.lastAtMs;
  for (const { at, ended = 0 } of jobs.values()) lastMs = Math.max(lastMs, at, ended);
  return lastMs;
}

/** The log believes that it runs, though the program that ran it had forgotten it. */
function isLost({ session, status }: Job): boolean {
  return session === undefined && !isTerminal(status);
}

function isOfJob({ alias, agentId }: Report): boolean {
  return alias.startsWith("arcp@") && agentId.startsWith("job_");
}

type JobOfRecord = Omit<Job, "principal" | "node" | "startedAtMs" | "lastSeq">;

function jobOf(record: LedgerJob): JobOfRecord {
  const { ending, budget, expires, max, key, print, request, delegate, cancel } = record;
  return {
    id: record.id,
    agent: record.agent,
    parent: record.parent ?? "",
    status: record.status ?? (record.queued === true ? "pending" : "running"),
    submittedAtMs: record.at,
    endedAtMs: record.ended ?? 0,
    restarts: record.restarts ?? 0,
    ...reasonOf(ending),
    session: record.session,
    lease: record.lease,
    ...(expires !== undefined && { leaseExpiresAtMs: expires }),
    ...(budget && { budget }),
    ...(max !== undefined && { maxRuntimeSec: max }),
    traceId: record.trace,
    ...(key !== undefined && { key }),
    ...(print !== undefined && { fingerprint: print }),
    ...(request !== undefined && { requestId: request }),
    ...(delegate !== undefined && { delegateId: delegate }),
    ...(cancel !== undefined && { cancelReason: cancel }),
  };
}

function reasonOf(ending: LedgerJob["ending"]): Pick<Job, "code" | "reason"> {
  switch (ending?.status) {
    case "error":
      return { code: ending.code, reason: ending.message };
    case "cancelled":
      return { code: "CANCELLED", reason: ending.reason };
    case "timed_out":
      return { code: "TIMED_OUT", reason: ending.message };
    case undefined:
      return { code: "", reason: "" };
  }
}

/** A job needs these to run again: its input, and the rest of its budget. */
function keptEntries({ at, input = null, budget }: LedgerJob): readonly string[] {
  const entry = (kind: string, value: unknown) =>
    encodeEntry({ atMs: at, seq: 0, kind, body: JSON.stringify(value) });
  return [entry("input", input), ...(budget ? [entry("budget", budget)] : [])];
}

function sessionOf(record: LedgerSession): Session {
  return {
    id: record.id,
    principal: record.who,
    client: record.client,
    profile: record.profile,
    features: record.features,
    openedAtMs: ulidTime(record.id.slice("sess_".length)) ?? 0,
    tokenHash: record.token,
    tokenHashBefore: record.before ?? "",
  };
}
