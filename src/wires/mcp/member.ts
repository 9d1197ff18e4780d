/**
 * The agent that a connection is. A model that holds leases and claims tasks must be somebody, and
 * must be known to be gone when it is; it cannot send heartbeats between two thoughts. So a
 * connection that needs an agent becomes one, and lives as long as it is open:
 *
 *   nobody ──first needs an id──▶ registered, heartbeats ──connection closes──▶ deregistered
 *
 * A client whose parent process gave it an id (ROLLCALL_AGENT_ID) is that agent: as it is, if it is
 * registered, else as another name of the same row of the fleet.
 */
import { RollcallError } from "../../core/errors.ts";
import { livingAgent } from "../../core/agents.ts";
import type { By } from "../../core/by.ts";
import type { Clock } from "../../core/clock.ts";
import type { Engine } from "../../engine/engine.ts";
import { OWN_ID } from "../../fleet/keeper-agents.ts";
import { shown } from "./data.ts";
import { MEMBER } from "./limits.ts";

export interface MemberOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  /** The caller that the connection is. */
  readonly by: By;
  /** The id it was given by what started it. */
  readonly ownId?: string | undefined;
}

export class Member {
  readonly #options: MemberOptions;
  #joining: Promise<string> | undefined;
  #stopHeartbeat: () => void = () => undefined;
  #isClosed = false;

  constructor(options: MemberOptions) {
    this.#options = options;
  }

  /** Its id among the registered agents; there it is called what its client calls itself. */
  async id(name: string): Promise<string> {
    this.#joining ??= this.#join(name);
    try {
      return await this.#joining;
    } catch (error) {
      this.#joining = undefined;
      throw error;
    }
  }

  /** Idempotent. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopHeartbeat();
    const agentId = await this.#joining?.catch(() => undefined);
    if (agentId === undefined || agentId === this.#options.ownId) return;
    // It may be dead already, or nobody can write: its time to live ends it as well.
    const { engine, by } = this.#options;
    const gone = engine.execute({ type: "agent.deregister", agentId }, by);
    await gone.catch(() => undefined);
  }

  async #join(name: string): Promise<string> {
    const { engine, by, ownId } = this.#options;
    if (ownId !== undefined) {
      const own = await engine.read((state) => livingAgent(state, ownId));
      if (!("ok" in own)) return ownId;
    }
    if (this.#isClosed) throw new RollcallError("CANCELLED", "the connection is closed");
    const card = {
      name: shown(name, 100) || "an MCP client",
      description: "",
      version: "",
      capabilities: [],
      tools: [],
      metadata: { wire: "mcp", ...(ownId !== undefined && { [OWN_ID]: ownId }) },
    };
    const command = { type: "agent.register", card, ttlMs: MEMBER.ttlMs } as const;
    const { agentId } = await engine.execute(command, by);
    this.#beatLater(agentId);
    return agentId;
  }

  #beatLater(agentId: string): void {
    if (this.#isClosed) return;
    this.#stopHeartbeat = this.#options.clock.after(MEMBER.heartbeatMs, () => {
      void this.#beat(agentId);
    });
  }

  async #beat(agentId: string): Promise<void> {
    try {
      await this.#options.engine.heartbeat(agentId, this.#options.by);
    } catch (error) {
      // Deregistered by somebody, or dead after a long sleep: the next call joins anew.
      if (error instanceof RollcallError && error.code === "NOT_FOUND") {
        this.#joining = undefined;
        return;
      }
    }
    this.#beatLater(agentId);
  }
}
