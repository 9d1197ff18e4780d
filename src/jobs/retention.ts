/**
 * How long a finished job is kept: for a day and so many of them, the oldest go first. One that was
 * submitted under a key is kept as long as the key is: whoever asks again must be told the same.
 */
import { RollcallError } from "../core/errors.ts";
import type { Job } from "./job.ts";

export interface RetentionLimits {
  readonly finished: number;
  readonly finishedMs: number;
  readonly keyTtlMs: number;
  readonly keysPerPrincipal: number;
}

export class Retention {
  readonly #limits: RetentionLimits;
  readonly #forget: (job: Job) => void;
  /** Each in the order in which they ended. */
  readonly #finished = new Set<Job>();
  readonly #keyed = new Set<Job>();
  readonly #byKey = new Map<string, Job>();
  readonly #keys = new Map<string, number>();

  constructor(limits: RetentionLimits, forget: (job: Job) => void) {
    this.#limits = limits;
    this.#forget = forget;
  }

  /** The job that was made under this key within its time. */
  byKey(principal: string, key: string, nowMs: number): Job | undefined {
    const job = this.#byKey.get(nameOf(principal, key));
    return job && this.#isKeyAlive(job, nowMs) ? job : undefined;
  }

  checkKeys(principal: string): void {
    const limit = this.#limits.keysPerPrincipal;
    if ((this.#keys.get(principal) ?? 0) < limit) return;
    throw new RollcallError("LIMIT_EXCEEDED", `${principal} has ${limit} idempotency keys`);
  }

  /** A job that was accepted under a key. */
  keep(job: Job): void {
    if (job.key === undefined) return;
    const name = nameOf(job.principal, job.key);
    const before = this.#byKey.get(name);
    if (before) this.#dropKey(before);
    this.#byKey.set(name, job);
    this.#keys.set(job.principal, (this.#keys.get(job.principal) ?? 0) + 1);
  }

  /** A job that ended. */
  add(job: Job, nowMs: number): void {
    if (this.#isKeyAlive(job, nowMs)) this.#keyed.add(job);
    else this.#finished.add(job);
    for (const oldest of this.#finished) {
      if (this.#finished.size <= this.#limits.finished) break;
      this.#remove(oldest);
    }
  }

  sweep(nowMs: number): void {
    for (const job of this.#finished) {
      if (job.endedAtMs + this.#limits.finishedMs > nowMs) break;
      this.#remove(job);
    }
    for (const job of this.#keyed) {
      if (this.#isKeyAlive(job, nowMs)) continue;
      this.#keyed.delete(job);
      this.#dropKey(job);
      this.add(job, nowMs);
    }
  }

  #isKeyAlive(job: Job, nowMs: number): boolean {
    if (job.key === undefined || job.createdAtMs + this.#limits.keyTtlMs <= nowMs) return false;
    return this.#byKey.get(nameOf(job.principal, job.key)) === job;
  }

  #remove(job: Job): void {
    this.#finished.delete(job);
    this.#dropKey(job);
    this.#forget(job);
  }

  #dropKey(job: Job): void {
    if (job.key === undefined) return;
    const name = nameOf(job.principal, job.key);
    if (this.#byKey.get(name) !== job) return;
    this.#byKey.delete(name);
    const left = (this.#keys.get(job.principal) ?? 1) - 1;
    if (left === 0) this.#keys.delete(job.principal);
    else this.#keys.set(job.principal, left);
  }
}

function nameOf(principal: string, key: string): string {
  return `${principal}\0${key}`;
}
