/**
 * Checks jobs and sessions in the log itself, event by event and apart from the rules: a rule that
 * is wrong must not be able to hide it.
 */
import type { Event, RecordedEvent } from "../../src/core/events.ts";
import { forgottenJobs, type Job } from "../../src/core/jobs.ts";

type Fail = (invariant: string, detail: string) => void;

interface JobLife {
  readonly node: string;
  /** The last time that it was submitted or started. */
  sequence: number;
  isRunning: boolean;
  isCancelled: boolean;
  isOver: boolean;
}

export class JobCheck {
  readonly #jobs = new Map<string, JobLife>();
  /** Session → the tokens that count. */
  readonly #sessions = new Map<string, readonly string[]>();

  take({ event, sequence }: RecordedEvent, fail: Fail): void {
    this.#job(event, sequence, fail);
    this.#session(event, fail);
  }

  /** The node that leads has ended or begun again all that others ran, or it itself before. */
  end(leader: { readonly node: string; readonly sequence: number }, fail: Fail): void {
    for (const [id, { node, sequence, isRunning, isOver }] of this.#jobs) {
      if (isOver || sequence > leader.sequence || (!isRunning && node === leader.node)) continue;
      fail("a job whose node died ends", `${id} of ${node} is as ${leader.node} found it`);
    }
  }

  #job(event: Event, sequence: number, fail: Fail): void {
    switch (event.type) {
      case "job.submitted":
        if (this.#jobs.has(event.job.id)) fail("a job begins once", event.job.id);
        this.#jobs.set(event.job.id, newLife(event.job, sequence));
        return;
      case "job.imported":
        this.#jobs.set(event.job.id, { ...newLife(event.job, sequence), isOver: true });
        return;
      case "job.ended": {
        const { id, status, code } = event.job;
        const life = this.#alive(id, event, fail);
        const isKept = status === "cancelled" || status === "timed_out" || code === "LEASE_EXPIRED";
        if (life?.isCancelled && !isKept) fail("a cancel is a promise", `${id} is ${status}`);
        if (life) life.isOver = true;
        return;
      }
      case "job.cancelling": {
        const life = this.#alive(event.job.id, event, fail);
        if (life?.isCancelled) fail("a job is cancelled once", event.job.id);
        if (life) life.isCancelled = true;
        return;
      }
      case "job.started": {
        const life = this.#alive(event.job.id, event, fail);
        if (life) Object.assign(life, { sequence, isRunning: true });
        return;
      }
      case "job.moved":
        this.#alive(event.job.id, event, fail);
        return;
      case "job.progressed":
        this.#alive(event.jobId, event, fail);
        return;
      case "job.forgotten":
        for (const jobId of forgottenJobs(event)) {
          if (!this.#jobs.get(jobId)?.isOver) fail("only what is over goes", jobId);
          this.#jobs.delete(jobId);
        }
        return;
      default:
    }
  }

  #alive(id: string, { type }: Event, fail: Fail): JobLife | undefined {
    const life = this.#jobs.get(id);
    if (life && !life.isOver) return life;
    fail("a job ends once", `${type} of ${id}, which ${life ? "is over" : "never began"}`);
    return undefined;
  }

  #session(event: Event, fail: Fail): void {
    switch (event.type) {
      case "session.opened":
        if (this.#sessions.has(event.session.id)) fail("a session opens once", event.session.id);
        this.#sessions.set(event.session.id, [event.session.tokenHash]);
        return;
      case "session.resumed": {
        const { id, tokenHash, tokenHashBefore } = event.session;
        if (!this.#sessions.get(id)?.includes(tokenHashBefore)) fail("tokens are known", id);
        this.#sessions.set(id, [tokenHash, tokenHashBefore]);
        return;
      }
      case "session.proved":
      case "session.subscribed":
      case "session.unsubscribed":
      case "session.gone": {
        const { type, sessionId } = event;
        const isOpen = this.#sessions.has(sessionId);
        if (!isOpen) fail("a session that is gone stays gone", `${type} of ${sessionId}`);
        if (type === "session.gone") this.#sessions.delete(sessionId);
        return;
      }
      default:
    }
  }
}

function newLife({ node, status }: Job, sequence: number): JobLife {
  return { node, sequence, isRunning: status === "running", isCancelled: false, isOver: false };
}
