/**
 * An agent's lives. It registers, heartbeats keep it, and when the daemon has given it up after all
 * (the machine slept, the network was cut) it registers again, as a new agent with a new id.
 *
 *   alive ──no heartbeat got through for a ttl──▶ unconfirmed
 *     │ ▲                                          │      │
 *     │ └──────────── one gets through ────────────┘      │
 *     │                                                   │
 *     └──▶ dead: the daemon no longer knows it ◀──────────┘      closed: we deregistered
 *            └──▶ alive again, under a new id
 *
 * Leases, claims and candidacies belong to one life: they end with it. Its id and its signal change
 * together, so code that took both has a pair that fits.
 */
import { setMaxListeners } from "node:events";
import { AGENT_KEY } from "../../../core/by.ts";
import { RollcallError, wireCodes } from "../../../core/errors.ts";
import { markOf } from "../../../core/clock.ts";
import { backOff, pause } from "../../../machine/waiting.ts";
import { RegistryService } from "../gen/agentkeeper/v1/agentkeeper_pb.ts";
import { secondsOf } from "./from-wire.ts";
import { PACE } from "./limits.ts";
import { Renewal } from "./renewal.ts";
import type { AgentCard } from "./types.ts";
import type { KeeperCallOptions, KeeperWire } from "./wire.ts";

export type AgentState =
  /** `formerId` is that of the life before, if there was one. */
  | { readonly kind: "alive"; readonly id: string; readonly formerId?: string }
  /** No heartbeat got through for a whole ttl: what the daemon thinks of it is not known. */
  | { readonly kind: "unconfirmed"; readonly id: string }
  /** The daemon gave it up; unless that is final it registers again. */
  | {
      readonly kind: "dead";
      readonly id: string;
      readonly reason: RollcallError;
      readonly isFinal: boolean;
    }
  | { readonly kind: "closed"; readonly id: string };

/** One registration. */
export interface Life {
  readonly id: string;
  /** Aborts when it is over. */
  readonly signal: AbortSignal;
  /** Whether a heartbeat got through within the ttl. */
  readonly isConfirmed: boolean;
  /** How long the daemon surely does not declare it dead. */
  leftMs(): number;
}

export interface PresenceOptions extends KeeperCallOptions {
  readonly card: AgentCard;
  readonly ttlMs: number;
  readonly reregister: boolean;
}

type StateListener = (state: AgentState) => void;

export class AgentPresence {
  readonly card: AgentCard;
  readonly ttlMs: number;
  readonly #wire: KeeperWire;
  readonly #reregisters: boolean;
  readonly #listeners = new Set<StateListener>();
  readonly #closed = new AbortController();
  #life: LivedLife;
  #state: AgentState;
  #closing: Promise<void> | undefined;

  private constructor(wire: KeeperWire, options: PresenceOptions, life: Registration) {
    this.card = options.card;
    this.ttlMs = options.ttlMs;
    this.#wire = wire;
    this.#reregisters = options.reregister;
    this.#life = this.#live(life);
    this.#state = { kind: "alive", id: life.id };
  }

  static async begin(wire: KeeperWire, options: PresenceOptions): Promise<AgentPresence> {
    return new AgentPresence(wire, options, await registered(wire, options));
  }

  get life(): Life {
    return this.#life;
  }

  get state(): AgentState {
    return this.#state;
  }

  /** Calls with every state from now on; returns how to stop. */
  onState(listener: StateListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Idempotent. Deregisters; a daemon that cannot be reached finds out by silence. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { id } = this.#life;
    const isDead = this.#state.kind === "dead";
    this.#closed.abort();
    this.#life.end(new RollcallError("CANCELLED", `agent ${id} was closed`));
    this.#tell({ kind: "closed", id });
    if (isDead) return;
    const { deregister } = RegistryService.method;
    await this.#wire
      .call(deregister, { agentId: id }, { timeoutMs: PACE.farewellMs })
      .catch(() => undefined);
    this.#wire.agentKeys.delete(id);
  }

  #live({ id, since }: Registration): LivedLife {
    const { clock, random } = this.#wire;
    const abort = new AbortController();
    // Every lease and claim of the agent listens.
    setMaxListeners(0, abort.signal);
    const renewal: Renewal = new Renewal({
      clock,
      random,
      since,
      ttlMs: this.ttlMs,
      refusals: ["NOT_FOUND"],
      renew: async (options) => {
        const { heartbeat } = RegistryService.method;
        await this.#wire.call(heartbeat, { agentId: id }, { ...options, isBackground: true });
      },
      onDoubt: () => this.#tell({ kind: "unconfirmed", id }),
      onProof: () => this.#tell({ kind: "alive", id }),
      onRefusal: (error) => this.#died(error),
    });
    return {
      id,
      signal: abort.signal,
      get isConfirmed() {
        return !abort.signal.aborted && renewal.isProven;
      },
      // The daemon waits a second ttl before it gives an agent up.
      leftMs: () => (abort.signal.aborted ? 0 : renewal.leftMs(2)),
      end(reason) {
        renewal.stop();
        abort.abort(reason);
      },
    };
  }

  #died(cause: RollcallError): void {
    const { id } = this.#life;
    const message = `agent ${id} was declared dead: ${cause.message}`;
    const reason = new RollcallError(cause.code, message, { cause });
    this.#life.end(reason);
    this.#wire.agentKeys.delete(id);
    this.#tell({ kind: "dead", id, reason, isFinal: !this.#reregisters });
    if (this.#reregisters) void this.#comeBack(id);
  }

  async #comeBack(formerId: string): Promise<void> {
    const { signal } = this.#closed;
    const { clock, random } = this.#wire;
    for (let tries = 0; !signal.aborted; tries += 1) {
      try {
        // One whose answer was lost leaves an agent behind that is found dead by its silence.
        const { card, ttlMs } = this;
        const life = await registered(this.#wire, { card, ttlMs, signal, isBackground: true });
        this.#life = this.#live(life);
        if (this.#isClosed()) return this.#life.end(new RollcallError("CANCELLED", "closed"));
        this.#tell({ kind: "alive", id: life.id, formerId });
        return;
      } catch (error) {
        if (this.#isClosed()) return;
        if (error instanceof RollcallError && wireCodes(error.code).retry === "never") {
          return this.#tell({ kind: "dead", id: formerId, reason: error, isFinal: true });
        }
        await pause(clock, backOff(tries, PACE, random), signal).catch(() => undefined);
      }
    }
  }

  #isClosed(): boolean {
    return this.#closed.signal.aborted;
  }

  #tell(state: AgentState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }
}

interface LivedLife extends Life {
  end(reason: RollcallError): void;
}

interface Registration {
  readonly id: string;
  readonly since: ReturnType<typeof markOf>;
}

async function registered(
  wire: KeeperWire,
  options: Pick<PresenceOptions, "card" | "ttlMs" | "signal" | "timeoutMs"> & {
    readonly isBackground?: boolean;
  },
): Promise<Registration> {
  const { card, ttlMs, signal, timeoutMs, isBackground = false } = options;
  const since = markOf(wire.clock);
  const { capabilities, tools } = card;
  const request = {
    card: { ...card, capabilities: [...capabilities], tools: [...tools] },
    ttlSeconds: secondsOf(ttlMs),
  };
  const sent = { signal, timeoutMs, isBackground };
  const { message, header } = await wire.ask(RegistryService.method.register, request, sent);
  const { agentId } = message;
  const key = header(AGENT_KEY);
  if (key !== undefined) wire.agentKeys.set(agentId, key);
  return { id: agentId, since };
}
