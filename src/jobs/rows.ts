/**
 * Jobs and the agents that run them, as rows of the fleet.
 *
 *   job starts ──half a second──▶ a row ──what it says, now and then──▶ over ──in time──▶ forgotten
 *        └── over sooner: counted in the row of its agent
 *
 * Whatever jobs do, the engine gets a bounded number of reports: rows that changed wait in a set,
 * and a tick tells some of them, what a person waits for first. A row is told as it is at that
 * moment, so what happened in between costs nothing.
 */
import type { JobEvent } from "../core/jobs/events.ts";
import type { Outcome } from "../core/jobs/outcome.ts";
import type { Facts, Liveness, Report, Ruled } from "../core/reports.ts";
import type { Clock } from "../core/clock.ts";
import { feel, newPulse, outcomeOf } from "./activity.ts";
import type { Job } from "./job.ts";
import { ROWS } from "./limits.ts";
import type { JobIndex } from "./listing.ts";
import type { JobObserver } from "./observer.ts";
import {
  agentFacts,
  jobFacts,
  lastOutcome,
  lastOf,
  nothing,
  overBecause,
  withMoment,
  type AgentRow,
  type JobRow,
} from "./row-facts.ts";

export interface JobRowsOptions {
  readonly node: string;
  readonly clock: Clock;
  readonly report: (report: Report) => Promise<unknown>;
  readonly forget: (alias: string) => Promise<unknown>;
  readonly onTrouble: (what: string, error: unknown) => void;
}

type Row = JobRow | AgentRow;

const DONE: Outcome = { status: "success", result: { form: "none" } };
const HOSTED: Ruled<Liveness> = { value: "alive", rule: "it is hosted here" };

export class JobRows implements JobObserver {
  readonly #options: JobRowsOptions;
  readonly #jobs = new Map<Job, JobRow>();
  readonly #agents = new Map<string, AgentRow>();
  /** To be told: first those that a person waits for. */
  readonly #urgent = new Set<Row>();
  readonly #changed = new Set<Row>();
  /** Aliases of jobs that are over, the oldest first. */
  readonly #over: string[] = [];
  #shown = 0;
  #order = 0;
  #stopTick: (() => void) | undefined;
  #stopRepeat: (() => void) | undefined;
  #telling: Promise<void> | undefined;
  #isClosed = false;
  /** Whether the last report failed: what cannot be told now is not told of each time. */
  #isTroubled = false;

  constructor(options: JobRowsOptions) {
    this.#options = options;
    this.#repeatLater();
  }

  /** The row of an agent: it is there from now on, in this state. */
  setAgent(name: string, liveness: Ruled<Liveness> = HOSTED): void {
    const row = this.#agent(name);
    row.liveness = liveness;
    this.#urgent.add(row);
    this.#tickLater();
  }

  idOf(name: string): string {
    return `arcp@${this.#options.node}:${name}`;
  }

  onStarted(job: Job): void {
    const { clock } = this.#options;
    const agent = this.#agent(job.agentName);
    const row = this.#jobs.get(job) ?? {
      told: nothing(),
      job,
      pulse: newPulse(clock.wallMs()),
      agent,
      isShown: false,
      nextMs: clock.monotonicMs() + ROWS.afterMs,
      outcome: undefined,
    };
    this.#jobs.set(job, row);
    agent.running.add(row);
    this.#change(row, agent);
  }

  onEvent(job: Job, event: JobEvent): void {
    const row = this.#jobs.get(job);
    if (!row) return;
    if (feel(row.pulse, event, this.#options.clock.wallMs())) this.#urgent.add(row);
    if (!this.#changed.has(row)) this.#change(row, row.agent);
  }

  onEnded(job: Job, outcome: Outcome): void {
    const agent = this.#agent(job.agentName);
    agent.outcome = lastOutcome(outcomeOf(outcome, job.endedAtMs));
    agent.lastAtMs = job.endedAtMs;
    const row = this.#jobs.get(job);
    if (row) {
      row.outcome = outcome;
      row.pulse.lastAtMs = job.endedAtMs;
      agent.running.delete(row);
      this.#jobs.delete(job);
      this.#changed.delete(row);
      this.#urgent.delete(row);
      if (row.isShown) this.#urgent.add(row);
    }
    this.#change(agent);
  }

  /** The runtime is gone, and its jobs with it; `reconcile` comes next. */
  dropJobs(): void {
    for (const row of this.#jobs.values()) {
      this.#changed.delete(row);
      this.#urgent.delete(row);
    }
    for (const { running } of this.#agents.values()) running.clear();
    this.#jobs.clear();
    this.#shown = 0;
  }

  /** After a start: what the fleet believes of us, and what is so. */
  async reconcile(known: readonly Report[], jobs: Pick<JobIndex, "get">): Promise<void> {
    const ours = known.filter(({ alias }) => alias.startsWith(this.idOf("")));
    for (const report of ours) this.#order = Math.max(this.#order, report.order);
    for (const report of ours) {
      const name = report.alias.slice(this.idOf("").length);
      if (this.#agents.has(name)) continue;
      const job = jobs.get(name);
      if (job && !job.isOver) {
        this.onStarted(job);
        const row = this.#jobs.get(job);
        if (row && !row.isShown) this.#show(row);
        continue;
      }
      const isOver = report.facts.liveness.value === "exited";
      const outcome = job && outcomeOf(job.ending ?? DONE, job.endedAtMs);
      const facts: Facts = {
        ...(report.facts.name !== undefined && { name: report.facts.name }),
        liveness: outcome ? overBecause(outcome) : { value: "exited", rule: "no longer here" },
        ...(outcome && { outcome }),
      };
      if (!isOver) await this.#send(report.alias, report.agentId, facts);
      this.#over.push(report.alias);
    }
    await this.#forgetSome();
  }

  /** Nothing is told any more; whoever looks is told by the ttl, or by the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTick?.();
    this.#stopRepeat?.();
    await this.#telling;
  }

  #agent(name: string): AgentRow {
    const known = this.#agents.get(name);
    if (known) return known;
    const lastAtMs = this.#options.clock.wallMs();
    const row = {
      told: nothing(),
      name,
      liveness: HOSTED,
      running: new Set<JobRow>(),
      outcome: undefined,
      lastAtMs,
      nextMs: 0,
    };
    this.#agents.set(name, row);
    return row;
  }

  #change(...rows: readonly Row[]): void {
    for (const row of rows) this.#changed.add(row);
    this.#tickLater();
  }

  #tickLater(): void {
    if (this.#stopTick || this.#isClosed) return;
    this.#stopTick = this.#options.clock.after(ROWS.tickMs, () => {
      this.#telling = this.#tick().finally(() => {
        this.#telling = undefined;
        this.#stopTick = undefined;
        if (this.#urgent.size + this.#changed.size > 0) this.#tickLater();
      });
    });
  }

  async #tick(): Promise<void> {
    const nowMs = this.#options.clock.monotonicMs();
    const due: Row[] = [];
    for (const row of [...this.#urgent, ...this.#changed]) {
      if (due.length >= ROWS.perTick) break;
      const isUrgent = this.#urgent.delete(row);
      if (!isUrgent && row.nextMs > nowMs) continue;
      this.#changed.delete(row);
      if ("job" in row && !this.#show(row)) continue;
      row.nextMs = nowMs + ROWS.eachMs;
      due.push(row);
    }
    await Promise.all(due.map((row) => this.#tell(row)));
    await this.#forgetSome();
  }

  /** Whether it may be a row. */
  #show(row: JobRow): boolean {
    if (row.isShown) return true;
    if (this.#shown >= ROWS.jobs) return false;
    row.isShown = true;
    this.#shown += 1;
    return true;
  }

  async #tell(row: Row): Promise<void> {
    if (!("job" in row)) {
      const id = this.idOf(row.name);
      const facts = agentFacts(row);
      if (!(await this.#send(id, id, withMoment(row.told, facts, lastOf(row))))) {
        this.#urgent.add(row);
      }
      return;
    }
    const alias = this.idOf(row.job.id);
    const { outcome, told, pulse } = row;
    const facts = withMoment(told, jobFacts(row), pulse.lastAtMs);
    if (!(await this.#send(alias, row.job.id, facts))) {
      this.#urgent.add(row);
      return;
    }
    if (!outcome) return;
    this.#shown -= 1;
    this.#over.push(alias);
  }

  /** Whether it worked. */
  async #send(alias: string, agentId: string, facts: Facts): Promise<boolean> {
    const { clock, report, onTrouble } = this.#options;
    const reportedAtMs = clock.wallMs();
    this.#order = Math.max(this.#order + 1, reportedAtMs);
    const isOver = facts.liveness.value === "exited";
    try {
      await report({
        alias,
        agentId,
        links: [],
        order: this.#order,
        reportedAtMs,
        ...(!isOver && { ttlMs: ROWS.ttlMs }),
        facts,
      });
      this.#isTroubled = false;
      return true;
    } catch (error) {
      if (!this.#isTroubled) onTrouble(`${alias} was not reported`, error);
      this.#isTroubled = true;
      return false;
    }
  }

  async #forgetSome(): Promise<void> {
    while (this.#over.length > ROWS.ended) {
      const alias = this.#over.shift() ?? "";
      try {
        await this.#options.forget(alias);
      } catch (error) {
        this.#options.onTrouble(`${alias} was not forgotten`, error);
      }
    }
  }

  /** Silence would be taken for death. */
  #repeatLater(): void {
    this.#stopRepeat = this.#options.clock.after(ROWS.repeatMs, () => {
      for (const row of this.#agents.values()) this.#changed.add(row);
      for (const row of this.#jobs.values()) this.#changed.add(row);
      this.#tickLater();
      this.#repeatLater();
    });
  }
}
