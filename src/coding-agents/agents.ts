/** The coding agents that can be made to show up by themselves. */
import type { CodingAgent } from "./adapter.ts";
import { claudeCode } from "./claude-code/agent.ts";
import { codex } from "./codex/agent.ts";
import { copilot } from "./copilot/agent.ts";
import { gemini } from "./gemini/agent.ts";
import { openCode } from "./opencode/agent.ts";
import { pi } from "./pi/agent.ts";
import { qwenCode } from "./qwen-code/agent.ts";

export const CODING_AGENTS: readonly CodingAgent[] = [
  claudeCode,
  codex,
  copilot,
  gemini,
  openCode,
  pi,
  qwenCode,
];

export function agentNamed(name: string): CodingAgent {
  const agent = CODING_AGENTS.find((each) => each.name === name);
  if (agent) return agent;
  throw new Error(`not one of ${CODING_AGENTS.map((each) => each.name).join(", ")}`);
}
