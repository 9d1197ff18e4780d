/** Codex. */
import type { Program } from "../program.ts";

export const codex: Program = {
  name: "codex",
  package: "@openai/codex",
  versions: ["0.166.0"],
  play: () => Promise.resolve(),
};
