/** The programs that are tried, in the order in which they are. */
import type { Program } from "../program.ts";
import {
  claudeByProxy,
  codexByProxy,
  geminiByProxy,
  gooseByProxy,
  openCodeByProxy,
  qwenByProxy,
} from "./acp.ts";
import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import { copilot } from "./copilot.ts";
import { gemini } from "./gemini.ts";
import { openCode } from "./opencode.ts";
import { brieflyPi, oldPi, outpostPi, pi } from "./pi.ts";
import { qwenCode } from "./qwen-code.ts";

export const PROGRAMS: readonly Program[] = [
  claudeCode,
  codex,
  copilot,
  openCode,
  pi,
  oldPi,
  brieflyPi,
  outpostPi,
  qwenCode,
  gemini,
  geminiByProxy,
  qwenByProxy,
  openCodeByProxy,
  codexByProxy,
  gooseByProxy,
  claudeByProxy,
];
