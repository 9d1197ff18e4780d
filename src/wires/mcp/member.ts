/**
 * The agent that a connection is. A model that holds leases and claims tasks must be somebody, and
 * must be known to be gone when it is; it cannot send heartbeats between two thoughts. So a
 * connection that needs an agent becomes one, and lives as long as it is open:
 *
 *   nobody ──first needs an id──▶ registered, heartbeats ──connection closes──▶ deregistered
 *
 * It acts with the key of its agent, so that no other connection of its principal can, unless that
 * is an operator, as the daemon's own user is.
 *
 * A client whose parent process gave it an id (ROLLCALL_AGENT_ID) is that agent: as it is, if it is
 * registered, else as another name of the same row of the fleet.
 */
import type { Actor } from "../../core/acting.ts";
import { RollcallError } from "../../core/errors.ts";
import { livingAgent } from "../../core/agents.ts";
import { withAgentKey, type By } from "../../core/by.ts";
import type { Clock } from "../../core/clock.ts";
import type { Engine } from "../../engine/engine.ts";
import { OWN_ID } from "../../fleet/identity.ts";
import { newAgentKey, secretHash } from "../../machine/secrets.ts";
import { forModel } from "./data.ts";
import { MEMBER } from "./limits.ts";

export interface McpMemberOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  /** The caller that the connection is. */
  readonly by: By;
  /** The id it was given by what started it. */
  readonly ownId?: string | undefined;
}

export class McpMember {
  readonly #options: McpMemberOptions;
  #joining: Promise<Actor> | undefined;
  #actor: Actor | undefined;
  #stopHeartbeat: () => void = () => undefined;
  #isClosed = false;

  constructor(options: McpMemberOptions) {
    this.#options = options;
  }

  /** The agent that it is, once it had to be one. */
  get actor(): Actor | undefined {
    return this.#actor;
  }

  /** Whether its agent has a lease or a task that others would get if it were gone. */
  get isHolding(): boolean {
    const { agentId = "" } = this.#actor ?? {};
    return this.#options.engine.peek(
      ({ leases, tasks }) =>
        leases.byHolder.of(agentId).size > 0 || tasks.byClaimer.of(agentId).size > 0,
    );
  }

  /** Becomes a registered agent; there it is called what its client calls itself. */
  async join(name: string): Promise<Actor> {
    this.#joining ??= this.#join(name);
    try {
      this.#actor = await this.#joining;
      return this.#actor;
    } catch (error) {
      this.#joining = undefined;
      throw error;
    }
  }

  /** The connection ended without a close: its agent lives as long as one that is silent. */
  letExpire(): void {
    this.#isClosed = true;
    this.#stopHeartbeat();
  }

  /** Idempotent. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.letExpire();
    const actor = await this.#joining?.catch(() => undefined);
    if (!actor || actor.agentId === this.#options.ownId) return;
    // It may be dead already, or nobody can write: its time to live ends it as well.
    const { agentId, by } = actor;
    const gone = this.#options.engine.execute({ type: "agent.deregister", agentId }, by);
    await gone.catch(() => undefined);
  }

  async #join(name: string): Promise<Actor> {
    const { engine, by, ownId } = this.#options;
    if (ownId !== undefined) {
      const own = await engine.read((state) => livingAgent(state, ownId));
      if (!("ok" in own)) return { agentId: ownId, by };
    }
    if (this.#isClosed) throw new RollcallError("CANCELLED", "the connection is closed");
    const card = {
      name: forModel(name, 100) || "an MCP client",
      description: "",
      version: "",
      capabilities: [],
      tools: [],
      metadata: { wire: "mcp", ...(ownId !== undefined && { [OWN_ID]: ownId }) },
    };
    const keyHash = secretHash(newAgentKey());
    const command = { type: "agent.register", card, ttlMs: MEMBER.ttlMs, keyHash } as const;
    const { agentId } = await engine.execute(command, by);
    const actor = { agentId, by: withAgentKey(by, keyHash) };
    this.#beatLater(actor);
    return actor;
  }

  #beatLater(actor: Actor): void {
    if (this.#isClosed) return;
    this.#stopHeartbeat = this.#options.clock.after(MEMBER.heartbeatMs, () => {
      void this.#beat(actor);
    });
  }

  async #beat(actor: Actor): Promise<void> {
    try {
      await this.#options.engine.heartbeat(actor.agentId, actor.by);
    } catch (error) {
      // Deregistered by somebody, or dead after a long sleep: the next call joins anew.
      if (error instanceof RollcallError && error.code === "NOT_FOUND") {
        this.#joining = undefined;
        this.#actor = undefined;
        return;
      }
    }
    this.#beatLater(actor);
  }
}
