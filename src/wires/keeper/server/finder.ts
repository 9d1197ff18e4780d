/** Finding agents. The order of those that have the tools is the finder's to choose. */
import type { Agent } from "../../../core/agents.ts";

export interface SkillQuery {
  /** The skill to look for; empty lists all agents. */
  readonly query: string;
  /** It must have every one of these. */
  readonly tools: readonly string[];
  readonly limit: number;
}

export interface AgentFinder {
  /** Agents that are alive, the best first, at most as many as wanted. */
  find(wanted: SkillQuery): Promise<readonly Agent[]>;
}
