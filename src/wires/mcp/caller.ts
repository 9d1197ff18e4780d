/** The caller of a tool, and the services of all tools. */
import { judge, type Access } from "../../core/access.ts";
import type { Actor } from "../../core/acting.ts";
import { AGENT_KEY, type By } from "../../core/by.ts";
import type { TaskClaims } from "../../engine/claims.ts";
import type { Clock } from "../../core/clock.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import type { Permit } from "../../operations/access.ts";
import type { OperationCall } from "../../operations/operation.ts";
import type { AgentSearch } from "../../search/agent-search.ts";
import type { McpDirectory } from "./directory.ts";

/** The services that all calls share. */
export interface Ground {
  readonly engine: Engine;
  readonly claims: TaskClaims;
  readonly fleet: Fleet;
  readonly search: Pick<AgentSearch, "find">;
  readonly directory: McpDirectory;
  readonly clock: Clock;
  readonly permit: Permit;
  /** A fault of ours, not of the caller's. */
  readonly onFault: (error: unknown) => void;
}

export interface ToolCaller extends Ground, OperationCall {
  /** The agent that acts, the one named or the connection's own, and the caller with its key. */
  readonly acting: (agentId: string | undefined) => Promise<Actor>;
}

/** Whether a caller that asked would be let in: to show it what it may use, and nothing else. */
export function mayDo({ engine }: Pick<Ground, "engine">, by: By, access: Access): boolean {
  return engine.peek(({ policies }) => judge(policies, by.principal, access).allowed);
}

/**
 * Why a call is refused in a session that another one began: all that it does is done with the key
 * of the first. A call without a key has that of its session.
 */
export function otherKey(began: By, { agentKey }: By): string | undefined {
  if (agentKey === undefined || agentKey === began.agentKey) return undefined;
  return `${AGENT_KEY} is not the one that this session began with: begin another one with it`;
}
