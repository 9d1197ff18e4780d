/** An agent of this program: registered, kept alive by heartbeats, and what it does in its name. */
import { acquire, acquireInTime, type AcquireOptions } from "./acquire.ts";
import { Campaign } from "./campaign.ts";
import type { LeaseHandle } from "./lease.ts";
import type { AgentState } from "./presence.ts";
import type { AgentCard } from "./types.ts";
import type { KeeperCallOptions } from "./wire.ts";
import { Worker, type WorkerParts, type WorkHandler, type WorkOptions } from "./work.ts";

export class KeeperAgent implements AsyncDisposable {
  readonly #parts: WorkerParts;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
    parts.wire.adopt(this, "agent");
  }

  /** Changes when the agent was declared dead and has registered again. */
  get id(): string {
    return this.#parts.presence.life.id;
  }

  /**
   * For a program that acts for this agent: ROLLCALL_AGENT_KEY, beside ROLLCALL_AGENT_ID. Absent
   * where the daemon gives none.
   */
  get key(): string | undefined {
    return this.#parts.wire.agentKeys.get(this.id);
  }

  /** Of the life that has this id: aborts when it ends, with the reason. */
  get signal(): AbortSignal {
    return this.#parts.presence.life.signal;
  }

  get card(): AgentCard {
    return this.#parts.presence.card;
  }

  get state(): AgentState {
    return this.#parts.presence.state;
  }

  /** A lease to hold alone; nothing when somebody else has it, in this program or another. */
  acquireLease(
    taskId: string,
    options: AcquireOptions & { readonly wait: true },
  ): Promise<LeaseHandle>;
  acquireLease(taskId: string, options?: AcquireOptions): Promise<LeaseHandle | undefined>;
  acquireLease(taskId: string, options: AcquireOptions = {}): Promise<LeaseHandle | undefined> {
    const { life } = this.#parts.presence;
    const wanted = { taskId, agentId: life.id, life };
    return (options.wait ? acquireInTime : acquire)(this.#parts.wire, wanted, options);
  }

  /** Stands for the lead of a group; somebody who leads is never displaced. */
  campaign(group: string, options: KeeperCallOptions = {}): Promise<Campaign> {
    return Campaign.begin(this.#parts.wire, this.#parts.presence, { ...options, group });
  }

  /** Does tasks that fit the agent's tools, until it is closed. */
  work(handler: WorkHandler, options: WorkOptions = {}): Worker {
    return new Worker(this.#parts, handler, options);
  }

  /** Deregisters; leases, candidacies and claims go with it. Idempotent. */
  async close(): Promise<void> {
    this.#parts.wire.dismiss(this);
    await this.#parts.presence.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
