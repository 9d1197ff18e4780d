/** `rollcall dismiss`: takes a question off the list, or all that was reported on an agent. */
import { call } from "../api.ts";
import { daemonOf } from "../daemon.ts";
import { note, printJson } from "../print.ts";
import { EXIT } from "../exit.ts";
import { answerFlags, switchFlag, type AnswerFlags } from "../flags.ts";
import { commandLine } from "../operation.ts";

interface Flags {
  readonly reports?: boolean;
}

const line = commandLine<Flags>("questions.dismiss", {
  words: { id: "AGENT" },
  flags: {
    reports: switchFlag("All that was reported on it: its row goes until it reports again"),
  },
  more: "It ends with 1 where there was nothing to dismiss.",
  examples: [
    { call: "rollcall dismiss claude", does: "what it asks needs no answer" },
    { call: "rollcall dismiss nightly --reports", does: "its row is wrong, or of no use" },
  ],
});

export const dismiss = line.command<AnswerFlags>(answerFlags, async (context, typed) => {
  const { reports = false, json = false } = typed.flags;
  await using daemon = daemonOf(context, typed.flags);
  const input = (await line.input({ ...typed, daemon, context })) as { readonly id: string };
  const answer = await (
    reports
      ? call(daemon, "fleet.dismiss", { input })
      : call(daemon, "questions.dismiss", { input })
  ).catch(line.refused);
  const gone = "ids" in answer ? answer.ids : answer.aliases;
  if (gone.length === 0) context.endWith(EXIT.nothingFound);
  if (json) return await printJson(context, answer);
  const nothing = reports
    ? "no source reported on it"
    : "it asks nothing; --reports takes its row away";
  await note(context, gone.length === 0 ? nothing : `dismissed: ${gone.join(", ")}`);
});
