/** The coding agents that can be made to show up by themselves. */
import { meant } from "../core/meant.ts";
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

/** By its name, or a part of it that no other has. */
export function agentNamed(word: string): CodingAgent {
  const namesOf = ({ name }: CodingAgent) => ({ id: name, name, isHere: true });
  const found = meant(CODING_AGENTS, namesOf, { word, noun: "coding agent" });
  if (found.ok) return found.item;
  const names = CODING_AGENTS.map(({ name }) => name).join(", ");
  const isGuessed = found.reason.includes("did you mean");
  throw new Error(isGuessed ? found.reason : `${found.reason}; there are ${names}`);
}
