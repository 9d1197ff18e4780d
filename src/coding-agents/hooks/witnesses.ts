/** The second source of each program with hooks. Loaded by sidecars, which have the time. */
import { claudeCodeWitness } from "../claude-code/witness.ts";
import { codexWitness } from "../codex/witness.ts";
import { copilotWitness } from "../copilot/witness.ts";
import { geminiWitness } from "../gemini/witness.ts";
import type { HookHost } from "./fact.ts";
import { noWitness, type WitnessMaker } from "./witness.ts";

export const WITNESSES: Readonly<Record<HookHost, WitnessMaker>> = {
  "claude-code": claudeCodeWitness,
  codex: codexWitness,
  copilot: copilotWitness,
  gemini: geminiWitness,
  "qwen-code": noWitness,
};
