/** The dialect of each program with hooks: little enough to be loaded at every hook. */
import { claudeCodeDialect } from "../claude-code/dialect.ts";
import { codexDialect } from "../codex/dialect.ts";
import { copilotDialect } from "../copilot/dialect.ts";
import { geminiDialect } from "../gemini/dialect.ts";
import { qwenCodeDialect } from "../qwen-code/dialect.ts";
import type { HookDialect } from "./dialect.ts";
import type { HookHost } from "./fact.ts";

export const DIALECTS: Readonly<Record<HookHost, HookDialect>> = {
  "claude-code": claudeCodeDialect,
  codex: codexDialect,
  copilot: copilotDialect,
  gemini: geminiDialect,
  "qwen-code": qwenCodeDialect,
};
