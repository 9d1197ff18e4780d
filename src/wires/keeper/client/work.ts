/**
 * A worker: claims a task, keeps the claim, runs the handler, and tells the daemon how it went.
 *
 *   claiming ──▶ running ──returns──▶ complete ──▶ claiming …
 *      │            ├──throws──▶ fail (back to the queue, or its end)
 *      │            └──the claim is lost──▶ the signal aborts, nothing is told
 *      └── close: no new claims; what runs has a grace to finish, then is given back
 *
 * An answer that was lost leaves open whether the task was completed. Then the worker looks: done
 * is done, and a task it still has it completes again, which its token makes safe.
 */
import { codeOf, invalidArgument, RollcallError, wireCodes } from "../../../core/errors.ts";
import { COUNT } from "../../../core/limits.ts";
import { backOff, linked, pause, unlessAborted } from "../../../machine/waiting.ts";
import { Bell } from "./bell.ts";
import { KeptClaim } from "./kept-claim.ts";
import { PACE } from "./limits.ts";
import type { Life, AgentPresence } from "./presence.ts";
import { encodeJson, type KeeperClaim, type KeeperTasks } from "./tasks.ts";
import type { KeeperTask } from "./types.ts";
import type { KeeperWire } from "./wire.ts";

export interface WorkContext {
  /** Aborts when the claim is lost, or the worker must stop: then the result is not used. */
  readonly signal: AbortSignal;
  /** To be sent along with whatever the task changes elsewhere. */
  readonly token: number | undefined;
  readonly agentId: string;
}

/**
 * Does the task. What it returns is the output: bytes as they are, nothing as nothing, anything
 * else as JSON. What it throws is why the task failed.
 */
export type WorkHandler = (task: KeeperTask, context: WorkContext) => unknown;

export type WorkOutcome =
  | { readonly kind: "completed"; readonly task: KeeperTask }
  | { readonly kind: "failed"; readonly task: KeeperTask; readonly error: unknown }
  /** Another agent may do it: the result of this one does not count. */
  | { readonly kind: "lost"; readonly task: KeeperTask; readonly error: unknown };

export interface WorkOptions {
  /** How many tasks at once; 1 unless said. */
  readonly concurrency?: number;
  /** Stops the worker as `close` does. */
  readonly signal?: AbortSignal;
  /** How long what runs may go on after that. */
  readonly graceMs?: number;
  readonly onOutcome?: (outcome: WorkOutcome) => void;
}

export interface WorkerParts {
  readonly wire: KeeperWire;
  readonly tasks: KeeperTasks;
  readonly presence: AgentPresence;
}

export class Worker implements AsyncDisposable {
  /** Resolves when it has stopped; rejects when it could not go on. */
  readonly finished: Promise<void>;
  readonly #parts: WorkerParts;
  readonly #handler: WorkHandler;
  readonly #options: WorkOptions;
  readonly #stop = new AbortController();
  readonly #running = new Set<KeptClaim>();
  readonly #lifeChanged = new Bell();
  readonly #stopListening: () => void;

  constructor(parts: WorkerParts, handler: WorkHandler, options: WorkOptions) {
    const { concurrency = 1 } = options;
    if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > COUNT.claimsPerAgent) {
      throw invalidArgument(
        `concurrency is ${concurrency}: it must be from 1 to ${COUNT.claimsPerAgent}`,
      );
    }
    this.#parts = parts;
    this.#handler = handler;
    this.#options = options;
    this.finished = Promise.resolve().then(() => this.#work());
    // The caller may await it or not.
    this.finished.catch(() => undefined);
    this.#stopListening = parts.presence.onState(() => this.#lifeChanged.ring());
    options.signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (options.signal?.aborted) this.#onAbort();
    parts.wire.adopt(this);
  }

  /** How many tasks are being worked on. */
  get running(): number {
    return this.#running.size;
  }

  /** Stops claiming, waits for what runs, gives back what takes too long. Idempotent. */
  async close(): Promise<void> {
    this.#onAbort();
    await this.finished.catch(() => undefined);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  readonly #onAbort = () => {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort(new RollcallError("CANCELLED", "the worker was stopped"));
    const { graceMs = PACE.graceMs } = this.#options;
    const cancel = this.#parts.wire.clock.after(graceMs, () => {
      const reason = new RollcallError("CANCELLED", "the worker was stopped before it was done");
      for (const kept of this.#running) kept.stop(reason);
    });
    void this.finished.catch(() => undefined).finally(cancel);
  };

  async #work(): Promise<void> {
    const letGo = this.#parts.wire.hold();
    // One that cannot go on stops the others.
    const slots = Array.from({ length: this.#options.concurrency ?? 1 }, () =>
      this.#slot().catch((error: unknown) => {
        this.#onAbort();
        throw error;
      }),
    );
    try {
      const ended = await Promise.allSettled(slots);
      for (const each of ended) if (each.status === "rejected") throw each.reason;
    } finally {
      letGo();
      this.#stopListening();
      this.#options.signal?.removeEventListener("abort", this.#onAbort);
      this.#parts.wire.dismiss(this);
    }
  }

  async #slot(): Promise<void> {
    for (;;) {
      const life = await this.#livingAgent();
      const claim = life && (await this.#claim(life));
      if (this.#stop.signal.aborted && !claim) return;
      if (life && claim) await this.#run(claim, life);
    }
  }

  /** Waits while the agent is between two lives; nothing when the worker is to stop. */
  async #livingAgent(): Promise<Life | undefined> {
    const { presence } = this.#parts;
    while (!this.#stop.signal.aborted) {
      const { life, state } = presence;
      if (!life.signal.aborted) return life;
      if (state.kind === "dead" && state.isFinal) throw state.reason;
      if (state.kind === "closed") this.#onAbort();
      else await unlessAborted(this.#lifeChanged.next(), this.#stop.signal).catch(() => undefined);
    }
    return undefined;
  }

  /** Nothing when the life ends or the worker is to stop. */
  async #claim(life: Life): Promise<KeeperClaim | undefined> {
    const { wire, tasks } = this.#parts;
    const { signal, unlink } = linked(this.#stop.signal, life.signal);
    try {
      for (let tries = 0; ; tries += 1) {
        const claim = await tasks.claim(life.id, { signal }).catch((error: unknown) => {
          if (!signal.aborted && !mayPass(error)) throw error;
        });
        if (claim || signal.aborted) return claim ?? undefined;
        const paused = pause(wire.clock, backOff(tries, PACE, wire.random), signal);
        await paused.catch(() => undefined);
      }
    } finally {
      unlink();
    }
  }

  async #run(claim: KeeperClaim, life: Life): Promise<void> {
    const kept = new KeptClaim(this.#parts.wire, claim, life);
    this.#running.add(kept);
    try {
      const outcome = await this.#outcomeOf(kept);
      this.#options.onOutcome?.(outcome);
    } finally {
      this.#running.delete(kept);
      kept.end();
    }
  }

  async #outcomeOf(kept: KeptClaim): Promise<WorkOutcome> {
    const { signal, claim } = kept;
    const { task, agentId, token } = claim;
    try {
      const handled = (async () => this.#handler(task, { signal, token, agentId }))();
      const result = await unlessAborted(handled, signal);
      const output = result instanceof Uint8Array ? result : encodeJson(result);
      return await this.#complete(kept, output);
    } catch (error) {
      if (kept.isLost) return { kind: "lost", task, error };
      await this.#fail(claim, error);
      return { kind: "failed", task, error };
    }
  }

  /** Throws what keeps it from ever being completed. */
  async #complete(kept: KeptClaim, output: Uint8Array): Promise<WorkOutcome> {
    const { wire, tasks } = this.#parts;
    const { claim, signal } = kept;
    const { task } = claim;
    for (let tries = 0; ; tries += 1) {
      try {
        // Also when the signal aborts: the daemon decides whether the result still counts.
        await tasks.complete(claim, output);
        return { kind: "completed", task };
      } catch (error) {
        if (kept.isLost || isLoss(error)) return { kind: "lost", task, error };
        if (wireCodes(codeOf(error)).retry === "never") throw error;
      }
      const now = await tasks.get(task.id).catch(() => undefined);
      if (now?.status === "completed" && now.claimedBy === claim.agentId) {
        return { kind: "completed", task };
      }
      await pause(wire.clock, backOff(tries, PACE, wire.random), signal);
    }
  }

  async #fail(claim: KeeperClaim, error: unknown): Promise<void> {
    const reason = error instanceof Error ? error.message || error.name : String(error);
    // Not told, the claim runs out: the same, only later.
    await this.#parts.tasks.fail(claim, reason).catch(() => undefined);
  }
}

/** An agent that is dead without having heard of it will: its heartbeat tells. */
function mayPass(error: unknown): boolean {
  const code = codeOf(error);
  return code === "NOT_FOUND" || wireCodes(code).retry !== "never";
}

function isLoss(error: unknown): boolean {
  const code = codeOf(error);
  return code === "WRONG_STATE" || code === "NOT_FOUND" || code === "NOT_HOLDER";
}
