/**
 * Asking the leader through a change of leaders: what cannot be answered now is asked again, of
 * whoever leads then, for as long as a caller can be expected to wait. That is safe because every
 * command has a name of its own (core/requests.ts): one that was decided before gets that answer.
 */
import { setMaxListeners } from "node:events";
import { canBeat, type Actor } from "../core/acting.ts";
import { needsKey } from "../core/agents.ts";
import { anothersAgent } from "../core/audit.ts";
import { withRequestId, type By } from "../core/by.ts";
import type { Clock } from "../core/clock.ts";
import { codeOf, RollcallError, type ErrorCode } from "../core/errors.ts";
import { ENGINE } from "../core/limits.ts";
import type { Command } from "../core/rules.ts";
import type { State } from "../core/state.ts";
import { unlessAborted } from "../machine/waiting.ts";
import { Beats } from "./beats.ts";
import type { Forwarded, Forwarder } from "./forward.ts";
import type { EngineMode } from "./member.ts";
import { Relay } from "./relay.ts";

export interface ForwardingOptions {
  readonly forwarder: Forwarder;
  readonly clock: Clock;
  readonly newId: () => string;
  /** Of this node. */
  readonly node: string;
  readonly instance: string;
  readonly mode: () => EngineMode;
  readonly state: () => State;
  /** Why there is nobody to ask. */
  readonly unavailable: () => RollcallError;
}

export class Forwarding {
  readonly #options: ForwardingOptions;
  readonly #relay: Relay;
  readonly #beats: Beats;
  readonly #waiting = new Set<() => void>();
  #change = newChange();

  constructor(options: ForwardingOptions) {
    this.#options = options;
    const { forwarder, unavailable } = options;
    const leader = () => this.#leader();
    this.#beats = new Beats({ ...options, leader });
    this.#relay = new Relay({
      forwarder,
      leader: () => {
        const node = leader();
        if (node === undefined) throw unavailable();
        return node;
      },
    });
  }

  /** Idempotent. */
  close(): void {
    this.#beats.close();
    this.leaderChanged();
  }

  /** The other node that leads; undefined while none is known. */
  #leader(): string | undefined {
    const { node, mode, state } = this.#options;
    const leader = state().leadership.node;
    return mode() === "following" && leader !== "" && leader !== node ? leader : undefined;
  }

  /**
   * Gathers a heartbeat for the leader, where this node's replica says that the agent lives and the
   * caller may speak for it. Resolves with whether the leader has taken it; undefined: it is one
   * for the leader itself.
   */
  takeBeat(actor: Actor): Promise<boolean> | undefined {
    const { agentId, by } = actor;
    const state = this.#options.state();
    // That an operator speaks for another's agent is for the audit, which the leader keeps.
    const isAudited = by.isOperator && anothersAgent(state, agentId, by) !== undefined;
    const isHere = this.#leader() !== undefined && !isAudited && canBeat(state, actor);
    return isHere ? this.#beats.take(agentId, needsKey(state, agentId)) : undefined;
  }

  /** The caller with a name for its request: whoever leads then knows it by that. */
  named(by: By): By {
    return by.requestId === undefined ? withRequestId(by, this.#options.newId()) : by;
  }

  /** Of a caller whose request has a name. */
  execute<C extends Command>(command: C, by: By): Promise<Forwarded<C>> {
    return this.#persist((signal) => this.#relay.execute(command, by, signal));
  }

  /** The head of the leader at a moment after this call. */
  barrier(): Promise<number> {
    return this.#persist((signal) => unlessAborted(this.#relay.barrier(), signal));
  }

  /** Another node leads, or this one does, or none: what is under way is asked anew. */
  leaderChanged(): void {
    this.#change.abort(new RollcallError("UNAVAILABLE", "another node leads by now"));
    this.#change = newChange();
    for (const wake of this.#waiting) wake();
  }

  async #persist<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, mode } = this.#options;
    const endsAtMs = clock.monotonicMs() + ENGINE.catchUpMs;
    for (;;) {
      const { signal } = this.#change;
      try {
        return await ask(signal);
      } catch (error) {
        const leftMs = endsAtMs - clock.monotonicMs();
        const mayFollow = mode() === "following" || mode() === "loading";
        if (!isPassing(error) || leftMs <= 0 || !mayFollow) throw error;
        if (!signal.aborted) await this.#changed(Math.min(leftMs, ENGINE.askAgainMs));
      }
    }
  }

  #changed(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        cancel();
        this.#waiting.delete(wake);
        resolve();
      };
      const cancel = this.#options.clock.after(withinMs, wake);
      this.#waiting.add(wake);
    });
  }
}

/** All that is under way listens. */
function newChange(): AbortController {
  const change = new AbortController();
  setMaxListeners(0, change.signal);
  return change;
}

const PASSING: readonly ErrorCode[] = ["UNAVAILABLE", "FENCED", "DEADLINE_EXCEEDED"];

/** Whether somebody may answer, soon. */
export function isPassing(error: unknown): boolean {
  return PASSING.includes(codeOf(error));
}
