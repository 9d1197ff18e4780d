/**
 * Heartbeats at a node that follows. Its replica says whether the agent lives and its caller may
 * speak for it, so the leader need only be told the id: what comes within a few milliseconds goes
 * to it as one message, and is answered when the leader has taken it. So a hundred thousand agents
 * cost the leader a lookup each and a few dozen messages a second, whichever member they talk to.
 *
 *   heartbeat ──▶ gathered ──▶ leader ──▶ answered
 *                     ▲            │ it cannot be reached
 *                     └────────────┘ until the caller has waited long enough
 *
 * To answer before the leader knows would save that wait, and would break a promise: that no agent
 * dies within two ttls of a heartbeat that was acknowledged. A node that crashes takes with it what
 * it had gathered, and one that is cut off goes on answering for agents that are dead.
 */
import type { Clock } from "../core/clock.ts";
import { BEATS, ENGINE } from "../core/limits.ts";
import type { Forwarder } from "./forward.ts";
import type { EngineMode } from "./member.ts";

export interface BeatsOptions {
  readonly forwarder: Forwarder;
  readonly clock: Clock;
  readonly node: string;
  readonly instance: string;
  /** The other node that leads; undefined while none is known. */
  readonly leader: () => string | undefined;
  readonly mode: () => EngineMode;
  /** Why there is nobody to ask. */
  readonly unavailable: () => Error;
}

/** The callers that wait for the same heartbeat. */
interface Gathered {
  readonly answered: Promise<boolean>;
  readonly sinceMs: number;
  readonly isBound: boolean;
  readonly settle: (isTaken: boolean) => void;
  readonly fail: (error: unknown) => void;
}

export class Beats {
  readonly #options: BeatsOptions;
  #gathered = new Map<string, Gathered>();
  #stop: () => void;
  /** When the leader was last sent anything. */
  #sentMs = -Infinity;
  #isSending = false;

  constructor(options: BeatsOptions) {
    this.#options = options;
    this.#stop = this.#later(BEATS.signMs);
  }

  /**
   * Resolves with whether the leader has taken it: one that it refuses is asked for by itself.
   * Undefined where there are too many. `isBound` says whether the agent was bound to its key when
   * its caller was checked.
   */
  take(agentId: string, isBound: boolean): Promise<boolean> | undefined {
    const known = this.#gathered.get(agentId);
    if (known) return known.answered;
    if (this.#gathered.size >= BEATS.batch) return undefined;
    const gathered = newGathered(this.#options.clock.monotonicMs(), isBound);
    this.#gathered.set(agentId, gathered);
    if (this.#gathered.size === 1 && !this.#isSending) this.#soon();
    return gathered.answered;
  }

  /** Idempotent. */
  close(): void {
    this.#stop();
    this.#giveBack();
  }

  #soon(): void {
    this.#stop();
    const waitedMs = this.#options.clock.monotonicMs() - this.#sentMs;
    this.#stop = this.#later(Math.max(0, BEATS.everyMs - waitedMs));
  }

  #later(delayMs: number): () => void {
    return this.#options.clock.after(delayMs, () => void this.#send());
  }

  /** One at a time: what comes meanwhile is the next one. Without any it is a sign of life. */
  async #send(): Promise<void> {
    const { clock, leader: leaderNow, mode, unavailable } = this.#options;
    const leader = leaderNow();
    const batch = this.#gathered;
    this.#gathered = new Map();
    this.#isSending = true;
    this.#sentMs = clock.monotonicMs();
    try {
      if (leader !== undefined) await this.#ask(leader, batch);
      else this.#keep(batch, unavailable());
    } catch (error) {
      this.#keep(batch, error);
    }
    this.#isSending = false;
    if (mode() === "closed") return this.close();
    if (this.#gathered.size > 0) this.#soon();
    else this.#stop = this.#later(BEATS.signMs);
  }

  async #ask(leader: string, batch: ReadonlyMap<string, Gathered>): Promise<void> {
    const { forwarder, node, instance } = this.#options;
    const isKnownBound = (agentId: string) => batch.get(agentId)?.isBound === true;
    const agentIds = [...batch.keys()].filter(isKnownBound);
    const unboundAgentIds = [...batch.keys()].filter((agentId) => !isKnownBound(agentId));
    const refused = await forwarder.beat(leader, { node, instance, agentIds, unboundAgentIds });
    const isRefused = new Set(refused);
    for (const [agentId, { settle }] of batch) settle(!isRefused.has(agentId));
  }

  /** The leader did not answer: for the next one, unless its caller has waited for too long. */
  #keep(batch: ReadonlyMap<string, Gathered>, error: unknown): void {
    const { clock, mode } = this.#options;
    const nowMs = clock.monotonicMs();
    for (const [agentId, gathered] of batch) {
      const newer = this.#gathered.get(agentId);
      if (nowMs - gathered.sinceMs >= ENGINE.catchUpMs) gathered.fail(error);
      else if (newer) newer.answered.then(gathered.settle, gathered.fail);
      else this.#gathered.set(agentId, gathered);
    }
    if (mode() === "leading") this.#giveBack();
  }

  /** Each is asked for by itself: this node leads by now, or is closed. */
  #giveBack(): void {
    const batch = this.#gathered;
    this.#gathered = new Map();
    for (const { settle } of batch.values()) settle(false);
  }
}

function newGathered(sinceMs: number, isBound: boolean): Gathered {
  let settle: (isTaken: boolean) => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const answered = new Promise<boolean>((resolve, reject) => {
    settle = resolve;
    fail = reject;
  });
  // The callers that wait hear of it; without any, a failure concerns nobody.
  answered.catch(() => undefined);
  return { answered, sinceMs, isBound, settle, fail };
}
