/**
 * The job service: hands jobs to their agents, writes what they say, and ends them. What may happen
 * to a job is decided by the rules of core; here is what has to be done about it.
 *
 *   submit ─▶ agent, policy, credentials ─▶ decided ─▶ durable ─▶ the agent runs ─▶ decided: ended
 *                                              │                      │ says
 *                                              └──── stream job/ID ◀──┘
 *
 * A job starts only after it is durable: nothing happens on behalf of a job that a crash could make
 * undone. The service lives for one term of leading at a time; each begins with the jobs of the
 * state that have not ended:
 *
 *   waits for a slot     waits on
 *   was cancelled        ends as cancelled
 *   restart: "always"    runs again from its beginning, a few times at most
 *   anything else        ends with an error that may be retried: its agent died with the process
 */
import { ITSELF, type By } from "../core/by.ts";
import { refusalError, RollcallError } from "../core/errors.ts";
import type { Event } from "../core/events.ts";
import { pageOfJobs, type JobPage, type JobQuery } from "../core/job-listing.ts";
import type { CancelCommand, JobEnding } from "../core/job-rules.ts";
import { checkTarget, type SubmitReply } from "../core/job-submit.ts";
import { JOBS } from "../core/jobs/limits.ts";
import type { Outcome } from "../core/jobs/outcome.ts";
import { limitJobs } from "../core/job-deadlines.ts";
import { forgottenJobs, type Job, type JobLimits, type JobStep } from "../core/jobs.ts";
import type { State } from "../core/state.ts";
import { seesJob, sightOf } from "../core/visibility.ts";
import type { Term } from "../engine/companion.ts";
import type { Streams } from "../log/streams.ts";
import type { JobAgents } from "./agents.ts";
import type { ContextHost } from "./context.ts";
import { CredentialService } from "./credentials.ts";
import { Delegation } from "./delegation.ts";
import { JobEvents, outcomeOf } from "./events.ts";
import { ForgottenStreams } from "./forgotten-streams.ts";
import type { JobAuthorizer, JobObserver, RunAround } from "./observer.ts";
import type { IssuedCredential, Provisioner } from "./provisioner.ts";
import { Run, type OwnerOf, type RunTerms } from "./run.ts";
import { runAgent, type RunnerOptions } from "./runner.ts";
import { Submissions, type JobOrder } from "./submissions.ts";
import { unfinishedJobs, type UnfinishedJob } from "./unfinished.ts";
import type { Clock } from "../core/clock.ts";

export interface JobsOptions {
  readonly node: string;
  readonly streams: Streams;
  readonly agents: JobAgents;
  readonly clock: Clock;
  readonly provisioner: Provisioner | undefined;
  readonly observers: readonly JobObserver[];
  readonly authorizer: JobAuthorizer | undefined;
  readonly around: RunAround | undefined;
  readonly limits: Partial<JobLimits>;
  /** The most that is kept of one job's stream. */
  readonly kept: { readonly events: number; readonly bytes: number };
  readonly newId: () => string;
  /** The session that submitted a job, while it is there. */
  readonly ownerOf: OwnerOf;
  readonly onTrouble: (what: string, error: unknown) => void;
}

export class JobService {
  readonly options: JobsOptions;
  readonly events: JobEvents;
  readonly credentials: CredentialService | undefined;
  readonly #submissions: Submissions;
  readonly #delegation: Delegation;
  readonly #runner: RunnerOptions;
  /** Tells the observers, where there are any. */
  readonly #observe: ((call: (observer: JobObserver) => void) => void) | undefined;
  readonly #runs = new Map<string, Run>();
  #found: readonly UnfinishedJob[] = [];
  /** The jobs found whose streams were read for this. */
  readonly #mayRunAgain = new Set<string>();
  /** Durable, and to be started at the end of this turn. */
  readonly #starting: Run[] = [];
  readonly #forgotten: ForgottenStreams;
  #ending = new AbortController();
  #term: Term | undefined;
  /** For the job that is being submitted: its run begins with this. */
  #terms: (RunTerms & { readonly keepsInput: boolean }) | undefined;

  constructor(options: JobsOptions) {
    this.options = options;
    this.events = new JobEvents({
      term: () => this.term,
      onEvent: (run, event) => this.#observe?.((observer) => observer.onEvent?.(run, event)),
    });
    const { provisioner, clock, onTrouble, agents, around, observers } = options;
    const term = () => this.term;
    this.#runner = { agents, around, host: this.#host };
    this.#observe = observers.length > 0 ? (call) => this.#tellObservers(call) : undefined;
    this.credentials =
      provisioner && new CredentialService({ provisioner, clock, term, onTrouble });
    this.#forgotten = new ForgottenStreams(options.streams);
    this.#submissions = new Submissions(this);
    this.#delegation = new Delegation(this);
  }

  /** Throws while this node does not lead. */
  get term(): Term {
    if (this.#term) return this.#term;
    throw new RollcallError("UNAVAILABLE", "this node does not lead");
  }

  get isLeading(): boolean {
    return this.#term !== undefined;
  }

  get state(): State {
    return this.term.state;
  }

  async prepare(state: State): Promise<void> {
    limitJobs(state, { ...JOBS, ...this.options.limits });
    const { streams } = this.options;
    const runsAgain = (job: Job) => this.#runsAgain(job);
    this.#found = await unfinishedJobs({ state, streams, runsAgain });
  }

  /** The jobs that have not ended are here again; nothing became of them yet. */
  begin(term: Term): void {
    this.#term = term;
    this.#mayRunAgain.clear();
    for (const { entry, again, ...fill } of this.#found) {
      if (again) this.#mayRunAgain.add(entry.job.id);
      const { parent } = entry.job;
      const { ownerOf } = this.options;
      const input: unknown = fill.inputAt > 0 ? JSON.parse(fill.inputText) : undefined;
      const run = new Run(entry, { input, parent: this.#runs.get(parent), ownerOf });
      Object.assign(run, fill);
      this.#runs.set(run.id, run);
    }
    this.#found = [];
  }

  /** Called once their subscribers are back as well. Children end before their parents do. */
  revive(): void {
    const { node } = this.options;
    const found = [...this.#runs.values()].reverse();
    const waiting = found.filter(({ job }) => job.status === "pending");
    const running = found.filter(({ job }) => job.status === "running");
    const isElsewhere = ({ job }: Run) => job.node !== node;
    const own = running.filter((run) => !isElsewhere(run));
    // Jobs that wait on another node go first, or they would get the slots of those that ran.
    for (const { job } of [...waiting, ...running].filter(isElsewhere)) this.#revive(job);
    for (const { job } of own) this.#revive(job);
    // Some have got a slot by now; others get one where there are more than before.
    for (const { job } of waiting) if (job.status === "pending") this.#revive(job);
    this.credentials?.lead();
    this.#ending = new AbortController();
    this.#forgotten.find(this.state.jobs, this.#ending.signal).catch(() => undefined);
  }

  /** Only the node that leads runs jobs: those of another died there, and may go on here. */
  #revive(job: Job): void {
    const again = this.#mayRunAgain.has(job.id);
    const { node } = this.options;
    this.term.decide({ type: "job.revive", jobId: job.id, node, again }, ITSELF);
  }

  #runsAgain({ agent, parent, cancelReason }: Job): boolean {
    if (parent !== "" || cancelReason !== undefined) return false;
    try {
      return this.options.agents.resolve(agent).restart === "always";
    } catch {
      return false;
    }
  }

  end(): void {
    this.#term = undefined;
    this.#ending.abort();
    this.credentials?.end();
    const reason = "the runtime cannot write";
    for (const run of this.#runs.values()) run.lose(reason);
    this.#runs.clear();
    this.#delegation.end(reason);
  }

  onEvent(event: Event): void {
    switch (event.type) {
      case "job.submitted":
        return this.#submitted(event.job);
      case "job.started":
        return this.#started(event.job);
      case "job.cancelling":
        return this.#runs.get(event.job.id)?.abort(`${event.job.id} was cancelled`);
      case "job.ended":
        return this.#ended(event.job);
      case "job.forgotten":
        return this.term.after(() => this.#forgotten.add(forgottenJobs(event)));
      default:
    }
  }

  #submitted(job: Job): void {
    // What it may spend has left the budget of its parent, whichever node it is for.
    const parent = this.#runs.get(job.parent);
    if (parent) this.events.keepBudget(parent);
    const entry = this.state.jobs.byId.get(job.id);
    const terms = this.#terms;
    if (!entry || !terms || job.node !== this.options.node) return;
    const run = new Run(entry, terms);
    this.#runs.set(job.id, run);
    if (terms.keepsInput) this.events.keepInput(run);
    this.#observe?.((observer) => observer.onAccepted?.(run));
    if (job.status === "running") this.#startOnceDurable(run);
  }

  #started(job: JobStep): void {
    const run = this.#runs.get(job.id);
    if (!run) return;
    if (job.restarts) this.events.tellRestart(run);
    this.#startOnceDurable(run);
  }

  /** When the answers that wait for the same commit have left: what agents do takes its time. */
  #startOnceDurable(run: Run): void {
    this.term.after(() => {
      this.#starting.push(run);
      // Connections gather their answers until the end of the turn; agents start after them.
      if (this.#starting.length === 1)
        queueMicrotask(() => this.options.clock.soon(this.#startAll));
    });
  }

  readonly #startAll = (): void => {
    for (const run of this.#starting.splice(0)) this.#start(run);
  };

  #start(run: Run): void {
    if (run.isOver) return;
    // Cancelled before its agent began: there is nobody to wait for.
    if (run.job.cancelReason !== undefined) return this.#end(run, CANCELLED);
    this.#observe?.((observer) => observer.onStarted?.(run));
    void this.#run(run);
  }

  async #run(run: Run): Promise<void> {
    const outcome = await runAgent(run, this.#runner);
    if (run.isOver || !this.#term || this.#runs.get(run.id) !== run) return;
    run.outcome = outcome;
    this.#end(run, endingOf(outcome));
  }

  #end({ id: jobId }: Run, ending: JobEnding): void {
    try {
      this.term.decide({ type: "job.end", jobId, ending }, ITSELF);
    } catch (error) {
      // A bug in the rules: the term is over, and the next one finds the job.
      this.options.onTrouble(`${jobId} could not be ended`, error);
    }
  }

  /** Cleans up at an end, whatever caused it. */
  #ended(job: JobStep): void {
    const run = this.#runs.get(job.id);
    if (!run) return;
    const { outcome: told } = run;
    const outcome = told?.status === job.status ? told : outcomeOf(job);
    this.events.end(run, outcome);
    run.abort(`${job.id} is over`);
    run.followers = undefined;
    if (run.parent) this.events.keepBudget(run.parent);
    this.credentials?.release(job.id);
    this.#delegation.onEnded(run, outcome);
    this.#observe?.((observer) => observer.onEnded?.(run, outcome));
    // Until its last entries are durable those who read its history find them here.
    this.term.after(() => this.#runs.delete(job.id));
  }

  /** The calls of agents through their context. */
  readonly #host: ContextHost = {
    say: (run, kind, body) => this.events.say(run, kind, body),
    check: (run, namespace, target) => this.#check(run, namespace, target),
    delegate: async (run, agent, how) => {
      if (run.isOver) throw new RollcallError("CANCELLED", `${run.id} is over`);
      return this.#delegation.delegate(run, agent, how);
    },
    rotate: (run, credentialId) => this.#rotate(run, credentialId),
    newId: () => this.options.newId(),
  };

  #check(run: Run, namespace: string, target: string): void {
    const nowMs = this.term.nowMs();
    if (run.isOver) {
      const isExpired = nowMs >= (run.job.leaseExpiresAtMs ?? Infinity);
      if (isExpired) throw new RollcallError("LEASE_EXPIRED", "the lease has expired");
      throw new RollcallError("CANCELLED", `${run.id} is over`);
    }
    const refusal = checkTarget(run.entry, { namespace, target }, nowMs);
    if (refusal) throw refusalError(refusal);
  }

  async #rotate(run: Run, credentialId: string): Promise<IssuedCredential> {
    const { credentials } = this;
    if (!credentials) throw new RollcallError("NOT_FOUND", "this runtime issues no credentials");
    const rotated = await credentials.rotate(run.id, credentialId);
    run.credentials = run.credentials.map((each) => (each.id === credentialId ? rotated : each));
    // Its value is not written: the wire takes it from the run, for the session that submitted it.
    await this.events.say(run, "status", { phase: "credential_rotated", id: rotated.id });
    return rotated;
  }

  /** At once where nothing has to be waited for; throws or rejects with the refusal. */
  submit(order: JobOrder): SubmitReply | Promise<SubmitReply> {
    return this.#submissions.submit(order);
  }

  /** Decides a submit whose run begins with these terms. */
  accept<T>(terms: RunTerms & { readonly keepsInput: boolean }, decide: () => T): T {
    this.#terms = terms;
    try {
      return decide();
    } finally {
      this.#terms = undefined;
    }
  }

  /** False when it had ended already. */
  cancel(command: Omit<CancelCommand, "type">, by: By): boolean {
    return this.term.decide({ type: "job.cancel", ...command }, by).isCancelled;
  }

  /** The job in memory, until its end is durable. */
  run(jobId: string): Run | undefined {
    return this.#runs.get(jobId);
  }

  /** A job that this caller may know of; to all others it is not there. */
  find({ principal }: By, jobId: string): Job | undefined {
    const job = this.state.jobs.byId.get(jobId)?.job;
    if (!job || seesJob(sightOf(principal), job)) return job;
    const { name, roles } = principal;
    return this.options.authorizer?.maySee?.(name, job, roles) ? job : undefined;
  }

  page({ principal }: By, query: JobQuery): JobPage {
    return pageOfJobs(this.state.jobs, sightOf(principal), query);
  }

  /** Forgets the oldest entries of streams that grew beyond what is kept of one. */
  sweep(): void {
    this.#forgotten.remove();
    for (const run of this.#runs.values()) {
      const through = run.isOver ? 0 : run.trim(this.options.kept);
      if (through === 0) continue;
      this.events.keepAgain(run, through);
      this.term.after(() => {
        this.options.streams.trim(run.stream, through).catch(() => undefined);
      });
    }
  }

  #tellObservers(call: (observer: JobObserver) => void): void {
    const { observers, onTrouble } = this.options;
    this.term.after(() => {
      for (const observer of observers) {
        try {
          call(observer);
        } catch (error) {
          // One that fails takes nothing from the others, nor from those who wait for an answer.
          onTrouble("an observer of jobs failed", error);
        }
      }
    });
  }
}

/** The rules know for which reason. */
const CANCELLED: JobEnding = { status: "cancelled", code: "", reason: "" };

/** The part of an outcome that the record of the job keeps. */
function endingOf(outcome: Outcome): JobEnding {
  const { status } = outcome;
  if (status === "error") return { status, code: outcome.code, reason: outcome.message };
  return { status, code: "", reason: "" };
}
