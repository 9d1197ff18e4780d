/**
 * `rollcall __complete WORDS…`: how the last of these words may go on, one proposal a line with its
 * explanation behind a tab. The shells' scripts call it; nothing ever fails here, since its output
 * lands on somebody's prompt.
 */
import { buildCommand, proposeCompletions } from "@stricli/core";
import type { Context } from "../context.ts";
import { about } from "../help.ts";
import { applicationFor } from "../program.ts";
import { PROGRAM } from "../tree.ts";
import { normalise } from "../words.ts";

export const complete = buildCommand<NonNullable<unknown>, readonly string[], Context>({
  docs: about("Propose how the words given may go on."),
  parameters: {
    positional: {
      kind: "array",
      parameter: { brief: "What was typed so far", parse: String, placeholder: "WORD" },
    },
  },
  async func(_flags, ...words) {
    const inputs = words.length > 1 ? normalise(words, PROGRAM) : words;
    // The last word is still being typed: it names nothing yet.
    const application = await applicationFor(PROGRAM, inputs.slice(0, -1), this);
    const proposals = await proposeCompletions(application, inputs, this);
    for (const { completion, brief } of proposals) {
      // A switch may be proposed with an empty value to go on with.
      if (completion) await this.out.line(`${completion}\t${brief}`);
    }
  },
});
