/**
 * From an order to an accepted job: the agent that is meant, what policy bounds its lease by, and
 * the credentials made for it. Then the rules decide.
 */
import type { By } from "../core/by.ts";
import { refusalError, RollcallError } from "../core/errors.ts";
import {
  checkDelegation,
  jobUnderKey,
  type SubmitCommand,
  type SubmitReply,
} from "../core/job-submit.ts";
import { checkExpiry, parseLease, type JobLease, type LeaseRequest } from "../core/jobs/lease.ts";
import { boundLease, checkSubset } from "../core/jobs/lease-subset.ts";
import type { Job } from "../core/jobs.ts";
import type { Term } from "../engine/companion.ts";
import type { JobAgent } from "./agents.ts";
import { orderFingerprint } from "./fingerprint.ts";
import type { JobService } from "./jobs.ts";
import type { Entitled, SubmitQuestion } from "./observer.ts";
import type { IssuedCredential } from "./provisioner.ts";
import type { TraceContext } from "./run.ts";
import { newTraceId } from "./trace-id.ts";

/** The request of a caller for a job. */
export interface JobOrder {
  readonly by: By;
  /** The session that submits, and hears of it. */
  readonly session: string;
  readonly agent: string;
  readonly input: unknown;
  readonly lease: LeaseRequest;
  readonly expiresAtMs?: number | undefined;
  readonly key?: string | undefined;
  readonly maxRuntimeSec?: number | undefined;
  readonly traceId?: string | undefined;
  readonly traceContext?: TraceContext | undefined;
  readonly requestId?: string | undefined;
  /** The job that delegates. */
  readonly parent?: string | undefined;
  readonly delegateId?: string | undefined;
  /** Whether the submitter understands credentials. */
  readonly takesCredentials?: boolean;
}

interface Acceptance {
  /** Of leading, in which it was submitted: when that is over, its client thinks that it failed. */
  readonly term: Term;
  readonly order: JobOrder;
  readonly agent: JobAgent;
  readonly lease: JobLease;
  readonly print: string | undefined;
  readonly jobId: string;
  readonly credentials?: readonly IssuedCredential[];
}

export class Submissions {
  readonly #jobs: JobService;
  /** Submits under a key that wait for others: one that repeats it waits for the same. */
  readonly #underWay = new Map<string, Promise<SubmitReply>>();

  constructor(jobs: JobService) {
    this.#jobs = jobs;
  }

  submit(order: JobOrder): SubmitReply | Promise<SubmitReply> {
    const { agents, newId } = this.#jobs.options;
    const { state, term } = this.#jobs;
    const nowMs = term.nowMs();
    const { name: principal } = order.by.principal;
    const { parent } = order;
    if (parent !== undefined) {
      const refusal = checkDelegation(state, { parent, agent: order.agent }, nowMs);
      if (refusal) throw refusalError(refusal);
    }
    const print = order.key === undefined ? undefined : fingerprintOf(order);
    const known = this.#known(order, print);
    if (known) return known;
    const agent = agents.resolve(order.agent);
    const asked = leaseOf(order, nowMs);
    const above = parent === undefined ? undefined : this.#jobs.run(parent);
    const roles = rolesOf(order.by, above?.job) ?? [];
    const question = { principal, roles, agent: agent.ref, lease: asked, parent: above };
    const lease = this.#granted(order.by, question);
    const takesCredentials = this.#jobs.credentials && order.takesCredentials === true;
    const jobId = `job_${newId()}`;
    const accepting = { term, order, agent, print, jobId };
    if (!takesCredentials && !(lease instanceof Promise)) {
      return this.#accept({ ...accepting, lease });
    }
    return this.#underKey(order, this.#submitSlowly(accepting, lease));
  }

  /** The lease within the bounds of policy; the authorizer hears of a denial before the caller. */
  #granted(by: By, question: SubmitQuestion): JobLease | Promise<JobLease> {
    const { authorizer } = this.#jobs.options;
    const { agent, lease } = question;
    const refused = (error: unknown): never => {
      const isDenied = error instanceof RollcallError && error.code === "PERMISSION_DENIED";
      if (isDenied) authorizer?.onDenied?.(by, agent, error.message);
      throw error;
    };
    try {
      const entitled = authorizer?.entitle?.(question);
      if (!(entitled instanceof Promise)) return bounded(lease, entitled);
      return entitled.then((bounds) => bounded(lease, bounds)).catch(refused);
    } catch (error) {
      return refused(error);
    }
  }

  #known(
    order: JobOrder,
    print: string | undefined,
  ): SubmitReply | Promise<SubmitReply> | undefined {
    const { key, by } = order;
    const { name: principal } = by.principal;
    if (key === undefined) return undefined;
    const again = () => this.submit(order);
    // When the other submission has ended, this one is checked again.
    const underWay = this.#underWay.get(`${principal}\0${key}`)?.then(again, again);
    if (underWay) return underWay;
    const { state, term } = this.#jobs;
    const job = jobUnderKey(state, { principal, key }, term.nowMs());
    if (!job) return undefined;
    if (job.fingerprint === print) return { job, isRepeated: true };
    const name = JSON.stringify(key);
    throw new RollcallError("ALREADY_EXISTS", `key ${name} was used with other parameters`);
  }

  #underKey({ by, key }: JobOrder, submitted: Promise<SubmitReply>): Promise<SubmitReply> {
    if (key === undefined) return submitted;
    const name = `${by.principal.name}\0${key}`;
    this.#underWay.set(name, submitted);
    return submitted.finally(() => this.#underWay.delete(name));
  }

  async #submitSlowly(
    accepting: Omit<Acceptance, "lease">,
    granted: JobLease | Promise<JobLease>,
  ): Promise<SubmitReply> {
    const { order, agent, jobId } = accepting;
    const { credentials } = this.#jobs;
    const lease = await granted;
    if (!credentials || order.takesCredentials !== true) {
      return this.#accept({ ...accepting, lease });
    }
    this.#checkParent(order, lease);
    try {
      const constraints = constraintsOf(lease);
      const { name: principal } = order.by.principal;
      const asked = { jobId, principal, agent: agent.ref, constraints };
      const issued = await credentials.issue(asked);
      return this.#accept({ ...accepting, lease, credentials: issued });
    } catch (error) {
      credentials.release(jobId);
      throw error;
    }
  }

  /** Before anything is made for a child: whether its parent could pass this on at all. */
  #checkParent({ parent }: JobOrder, lease: JobLease): void {
    const above = parent === undefined ? undefined : this.#jobs.state.jobs.byId.get(parent);
    const refusal = above && checkSubset(lease, above.lease, above.purse);
    if (refusal) throw refusalError(refusal);
  }

  #accept(accepting: Acceptance): SubmitReply {
    const { term, order, agent, lease, print, jobId, credentials = [] } = accepting;
    const jobs = this.#jobs;
    if (jobs.term !== term) throw new RollcallError("UNAVAILABLE", "this node led anew meanwhile");
    const { node, ownerOf } = jobs.options;
    const { by, session, parent = "" } = order;
    const { name: principal } = by.principal;
    const above = jobs.run(parent);
    const { jobs: known } = jobs.state;
    const isWaiting = parent === "" && !known.queue(node).isFree(principal, known.limits);
    const terms = {
      input: order.input,
      parent: above,
      ownerOf,
      credentials,
      traceContext: order.traceContext,
      keepsInput: isWaiting || agent.restart === "always",
    };
    const { maxRuntimeSec, requestId, delegateId, key } = order;
    const { expiresAtMs } = lease;
    const command: SubmitCommand = {
      type: "job.submit",
      jobId,
      agent: agent.ref,
      principal,
      roles: rolesOf(by, above?.job),
      node,
      session,
      parent,
      lease: lease.granted,
      leaseExpiresAtMs: expiresAtMs === Infinity ? undefined : expiresAtMs,
      maxRuntimeSec,
      traceId: above?.job.traceId ?? order.traceId ?? newTraceId(),
      key,
      fingerprint: print,
      requestId,
      delegateId,
    };
    return jobs.accept(terms, () => term.decide(command, by));
  }
}

/** The roles that a job is narrowed by: its submitter's, and so those of the job above it. */
function rolesOf({ principal: { roles } }: By, above: Job | undefined): Job["roles"] {
  if (above) return above.roles;
  return roles.length === 0 || roles.includes("admin") ? undefined : roles;
}

/** A lease as it was asked for, checked. */
function leaseOf({ lease, expiresAtMs }: JobOrder, nowMs: number): JobLease {
  const late = expiresAtMs === undefined ? undefined : checkExpiry(expiresAtMs, nowMs);
  if (late) throw refusalError(late);
  const parsed = parseLease(lease, expiresAtMs);
  if (!parsed.ok) throw refusalError(parsed);
  return parsed.lease;
}

/** Bounded by policy. */
function bounded(asked: JobLease, entitled: Entitled): JobLease {
  const bound = entitled ? boundLease(asked, entitled) : undefined;
  if (bound && !bound.ok) throw refusalError(bound);
  return bound?.lease ?? asked;
}

/** Under the names of the lease, for those who make credentials. */
function constraintsOf({ granted, expiresAtMs }: JobLease): Readonly<Record<string, unknown>> {
  const [budget, models] = [granted["cost.budget"], granted["model.use"]];
  return {
    ...(budget && { "cost.budget": budget }),
    ...(models && { "model.use": models }),
    ...(expiresAtMs !== Infinity && { expires_at: new Date(expiresAtMs).toISOString() }),
  };
}

/** Everything that makes two submits the same, defaults filled in. */
function fingerprintOf({ agent, input, lease, expiresAtMs, maxRuntimeSec, parent }: JobOrder) {
  return orderFingerprint([
    agent,
    input ?? null,
    lease,
    expiresAtMs ?? null,
    maxRuntimeSec ?? null,
    parent ?? null,
  ]);
}
