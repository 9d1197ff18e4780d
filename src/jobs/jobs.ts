/**
 * The job service: accepts jobs, hands them to their agents, and keeps them as long as somebody
 * may ask. It knows principals, leases and budgets; of frames it knows nothing.
 *
 *   submit ─▶ agent, lease, policy, key ─▶ credentials ─▶ recorded ─▶ a slot ─▶ Runs
 *
 * A job starts only after it is on disk: nothing happens on behalf of a job that a crash could
 * make undone.
 */
import { RollcallError } from "../core/errors.ts";
import type { Lease, LeaseRequest } from "../core/jobs/lease.ts";
import { boundLease } from "../core/jobs/lease-subset.ts";
import type { Outcome } from "../core/jobs/outcome.ts";
import type { Agent, Agents } from "./agents.ts";
import type { Alarms } from "./alarms.ts";
import type { Credentials } from "./credentials.ts";
import { Delegation } from "./delegation.ts";
import { fingerprint } from "./fingerprint.ts";
import type { Follower, JobOwner } from "./follower.ts";
import { leaseOf, newGrant, type Grant } from "./grant.ts";
import { Job, newRunning, type TraceContext } from "./job.ts";
import type { Ledger } from "./ledger.ts";
import { JOBS } from "./limits.ts";
import { JobIndex, type JobPage, type JobQuery } from "./listing.ts";
import type { Entitled, JobAuthorizer, JobObserver, RunAround } from "./observer.ts";
import type { IssuedCredential } from "./provisioner.ts";
import type { Recorder } from "./recorder.ts";
import { Retention, type RetentionLimits } from "./retention.ts";
import { Runs } from "./runs.ts";
import { Slots, type SlotLimits } from "./slots.ts";
import { newTraceId } from "./trace-id.ts";

export interface JobLimits extends SlotLimits, RetentionLimits {
  readonly cancelGraceMs: number;
  readonly depth: number;
  readonly children: number;
  readonly childrenAtOnce: number;
}

export interface JobsOptions {
  readonly agents: Agents;
  readonly alarms: Alarms;
  readonly recorder: Recorder;
  readonly ledger: Ledger;
  readonly credentials: Credentials | undefined;
  readonly observers: readonly JobObserver[];
  readonly authorizer: JobAuthorizer | undefined;
  readonly around: RunAround | undefined;
  readonly limits: JobLimits;
  readonly newId: () => string;
  readonly onTrouble: (what: string, error: unknown) => void;
}

/** What a principal wants to have done. */
export interface JobOrder {
  readonly owner: JobOwner;
  readonly agent: string;
  readonly input: unknown;
  readonly lease: LeaseRequest;
  readonly expiresAtMs?: number | undefined;
  readonly key?: string | undefined;
  readonly maxRuntimeSec?: number | undefined;
  readonly traceId?: string | undefined;
  readonly traceContext?: TraceContext | undefined;
  readonly requestId?: string | undefined;
  readonly parent?: Job | undefined;
  readonly delegateId?: string | undefined;
  /** Whether whoever submits understands credentials. */
  readonly takesCredentials?: boolean;
}

export interface Submitted {
  readonly job: Job;
  /** Whether it was there already, under the same key. */
  readonly isRepeated: boolean;
}

export class Jobs {
  readonly index = new JobIndex();
  readonly runs: Runs;
  readonly retention: Retention;
  readonly #options: JobsOptions;
  readonly #slots: Slots<Job>;
  readonly #delegation: Delegation;
  /** Submits under a key that wait for others: who repeats one waits for the same. */
  readonly #underWay = new Map<string, Promise<Submitted>>();

  constructor(options: JobsOptions) {
    this.#options = options;
    this.#slots = new Slots(options.limits);
    this.#delegation = new Delegation(this, options.newId);
    this.retention = new Retention(options.limits, (job) => this.#forget(job));
    this.runs = new Runs({
      ...options,
      cancelGraceMs: options.limits.cancelGraceMs,
      onEnded: (job, outcome) => this.#ended(job, outcome),
      host: {
        delegate: (job, agent, how) => this.#delegation.delegate(job, agent, how),
        rotate: (job, credentialId) => this.#rotate(job, credentialId),
      },
    });
  }

  get limits(): JobLimits {
    return this.#options.limits;
  }

  /** At once where nothing has to be waited for; throws or rejects with the refusal. */
  submit(order: JobOrder): Submitted | Promise<Submitted> {
    const print = order.key === undefined ? undefined : fingerprintOf(order);
    const known = this.#known(order, print);
    if (known) return known;
    const agent = this.#options.agents.resolve(order.agent);
    if (!order.parent) this.#slots.hasRoom(order.owner.principal);
    if (order.key !== undefined) this.retention.checkKeys(order.owner.principal);
    const lease = leaseOf(order.lease, order.expiresAtMs, this.#wallMs());
    checkSize(lease);
    const { credentials, authorizer } = this.#options;
    const { parent } = order;
    const { principal } = order.owner;
    const entitled = authorizer?.entitle?.({ principal, agent: agent.ref, lease, parent });
    const isIssued = credentials !== undefined && order.takesCredentials === true;
    if (!isIssued && !(entitled instanceof Promise)) {
      return this.#accept(order, { agent, print, grant: grantOf(lease, entitled, parent) });
    }
    return this.#underKey(order, this.#submitSlowly({ order, agent, lease, print, entitled }));
  }

  #known(order: JobOrder, print: string | undefined): Submitted | Promise<Submitted> | undefined {
    if (order.key === undefined) return undefined;
    const { principal } = order.owner;
    const underWay = this.#underWay.get(`${principal}\0${order.key}`);
    if (underWay) {
      // Whatever became of it, this one is then looked at anew.
      return underWay.then(
        () => this.submit(order),
        () => this.submit(order),
      );
    }
    const job = this.retention.byKey(principal, order.key, this.#wallMs());
    if (!job) return undefined;
    if (job.fingerprint !== print) {
      const key = JSON.stringify(order.key);
      throw new RollcallError("ALREADY_EXISTS", `key ${key} was used with other parameters`);
    }
    return { job, isRepeated: true };
  }

  #underKey({ owner, key }: JobOrder, submitted: Promise<Submitted>): Promise<Submitted> {
    if (key === undefined) return submitted;
    const name = `${owner.principal}\0${key}`;
    this.#underWay.set(name, submitted);
    return submitted.finally(() => this.#underWay.delete(name));
  }

  async #submitSlowly(slow: SlowSubmit): Promise<Submitted> {
    const { order, agent, print } = slow;
    const { credentials } = this.#options;
    const id = `job_${this.#options.newId()}`;
    const grant = grantOf(slow.lease, await slow.entitled, order.parent);
    try {
      if (!credentials || order.takesCredentials !== true) {
        return this.#accept(order, { agent, grant, print, id });
      }
      const { principal } = order.owner;
      const constraints = grant.constraints();
      const asked = { jobId: id, principal, agent: agent.ref, constraints };
      const issued = await credentials.issue(asked);
      return this.#accept(order, { agent, grant, print, id, credentials: issued });
    } catch (error) {
      grant.settle();
      credentials?.end(id);
      throw error;
    }
  }

  #accept(order: JobOrder, accepting: Accepting): Submitted {
    const { agent, grant, print, credentials = NO_CREDENTIALS } = accepting;
    const { id = `job_${this.#options.newId()}` } = accepting;
    const { owner, parent } = order;
    if (parent && !parent.running) throw new RollcallError("WRONG_STATE", `${parent.id} is over`);
    const job = new Job(
      {
        id,
        owner,
        agent: agent.ref,
        agentName: agent.name,
        grant,
        traceId: order.traceId ?? parent?.traceId ?? newTraceId(),
        createdAtMs: this.#wallMs(),
        maxRuntimeSec: order.maxRuntimeSec,
        key: order.key,
        fingerprint: print,
        parent,
        delegateId: order.delegateId,
        requestId: order.requestId,
        from: owner.head,
      },
      order.input,
    );
    job.running = newRunning();
    job.running.credentials = credentials;
    job.running.traceContext = order.traceContext;
    // Children hold no slot: a parent that waits for one would wait for itself.
    if (!parent) this.#queue(job);
    this.add(job);
    this.#options.ledger.put(job);
    if (parent?.running) {
      parent.running.children ??= new Set();
      parent.running.children.add(job);
      parent.running.childrenEver += 1;
      this.runs.keepBudget(parent);
    }
    this.runs.watchDeadlines(job);
    this.runs.observe((observer) => observer.onAccepted?.(job));
    if (!job.isQueued) this.startWhenDurable(job);
    return { job, isRepeated: false };
  }

  #queue(job: Job): void {
    const isFree = this.#slots.hasRoom(job.principal);
    job.isQueued = !isFree;
    job.holdsSlot = isFree;
    if (isFree) this.#slots.take(job.principal);
    else this.#slots.wait(job.principal, job);
  }

  startWhenDurable(job: Job): void {
    this.#options.recorder.after(() => this.runs.start(job));
  }

  /** For a job that is here again after a start. */
  enqueue(job: Job): void {
    this.#slots.wait(job.principal, job);
    this.#startNext(this.#slots.next());
  }

  add(job: Job): void {
    this.index.add(job);
    this.retention.keep(job);
    job.owner.onJob(job);
  }

  page(principal: string, query: JobQuery): JobPage {
    return this.index.page(principal, query);
  }

  /** A job that this principal may know of; to all others it is not there. */
  find(principal: string, jobId: string): Job | undefined {
    const job = this.index.get(jobId);
    if (!job) return undefined;
    const isTheirs = job.principal === principal;
    return isTheirs || this.#options.authorizer?.maySee?.(principal, job) ? job : undefined;
  }

  follow(job: Job, follower: Follower): void {
    job.subscribers ??= new Set();
    job.subscribers.add(follower);
  }

  unfollow(job: Job, follower: Follower): void {
    job.subscribers?.delete(follower);
  }

  sweep(): void {
    this.retention.sweep(this.#wallMs());
  }

  #ended(job: Job, outcome: Outcome): void {
    job.grant.settle();
    if (job.parent?.running) {
      job.parent.running.children?.delete(job);
      this.runs.keepBudget(job.parent);
    }
    this.#options.credentials?.end(job.id);
    this.#delegation.onEnded(job, outcome);
    job.subscribers = undefined;
    this.retention.add(job, this.#wallMs());
    if (job.isQueued) this.#slots.leaveLine(job.principal, job);
    if (job.holdsSlot) this.#startNext(this.#slots.free(job.principal));
  }

  #startNext(job: Job | undefined): void {
    if (!job) return;
    job.isQueued = false;
    job.holdsSlot = true;
    this.runs.change(job, { queued: false });
    this.startWhenDurable(job);
  }

  /** Also for those who submit as a child by the wire: the same rules, whoever asks. */
  submitChild(parent: Job, order: JobOrder): Submitted | Promise<Submitted> {
    const { running } = parent;
    const { depth, children, childrenAtOnce } = this.#options.limits;
    if (!running) throw new RollcallError("WRONG_STATE", `${parent.id} is over`);
    this.runs.check(parent, "agent.delegate", order.agent);
    if (parent.depth + 1 > depth) {
      throw new RollcallError("LIMIT_EXCEEDED", `delegated jobs nest at most ${depth} deep`);
    }
    const atOnce = running.children?.size ?? 0;
    if (running.childrenEver >= children || atOnce >= childrenAtOnce) {
      const limit = `${children} children, ${childrenAtOnce} at once`;
      throw new RollcallError("LIMIT_EXCEEDED", `a job has at most ${limit}`);
    }
    return this.submit({ ...order, parent, traceId: parent.traceId });
  }

  async #rotate(job: Job, credentialId: string): Promise<IssuedCredential> {
    const { credentials } = this.#options;
    if (!credentials) throw new RollcallError("NOT_FOUND", "this runtime issues no credentials");
    const rotated = await credentials.rotate(job.id, credentialId);
    if (job.running) {
      job.running.credentials = job.running.credentials.map((each) =>
        each.id === credentialId ? rotated : each,
      );
    }
    const { id, value } = rotated;
    await this.runs.say(job, "status", { phase: "credential_rotated", id, value });
    return rotated;
  }

  #forget(job: Job): void {
    this.index.delete(job);
    this.#options.ledger.drop(job, { t: "job-", id: job.id });
    job.owner.onForgotten(job);
  }

  #wallMs(): number {
    return this.#options.alarms.clock.wallMs();
  }
}

const NO_CREDENTIALS: readonly IssuedCredential[] = [];

interface Accepting {
  readonly agent: Agent;
  readonly grant: Grant;
  readonly print: string | undefined;
  readonly id?: string;
  readonly credentials?: readonly IssuedCredential[];
}

interface SlowSubmit {
  readonly order: JobOrder;
  readonly agent: Agent;
  readonly lease: Lease;
  readonly print: string | undefined;
  readonly entitled: Entitled | Promise<Entitled>;
}

/** A lease is told again in answers, each of which is one frame. */
function checkSize({ granted }: Lease): void {
  for (const _ in granted) {
    if (JSON.stringify(granted).length <= JOBS.leaseLength) return;
    const limit = `${JOBS.leaseLength} characters`;
    throw new RollcallError("TOO_LARGE", `lease_request has more than ${limit}`);
  }
}

/** Bounded by policy, and for a child by its parent. */
function grantOf(asked: Lease, entitled: Entitled, parent: Job | undefined): Grant {
  const bounded = entitled ? boundLease(asked, entitled) : undefined;
  if (bounded && !bounded.ok) throw new RollcallError(bounded.code, bounded.reason);
  const lease = bounded?.lease ?? asked;
  return parent ? parent.grant.forChild(lease) : newGrant(lease);
}

/** Everything that makes two submits the same, defaults filled in. */
function fingerprintOf({ agent, input, lease, expiresAtMs, maxRuntimeSec, parent }: JobOrder) {
  return fingerprint([
    agent,
    input ?? null,
    lease,
    expiresAtMs ?? null,
    maxRuntimeSec ?? null,
    parent?.id ?? null,
  ]);
}

export const DEFAULT_LIMITS: JobLimits = JOBS;
