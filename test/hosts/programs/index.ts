/** The programs that are tried, in the order in which they are. */
import type { Program } from "../program.ts";
import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import { openCode } from "./opencode.ts";
import { oldPi, pi } from "./pi.ts";

export const PROGRAMS: readonly Program[] = [claudeCode, codex, openCode, pi, oldPi];
