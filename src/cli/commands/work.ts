/** The commands of `rollcall tasks` that a worker needs: claim, renew, complete, fail. */
import { shortDuration } from "../../core/words.ts";
import { note, printFacts } from "../print.ts";
import { operation } from "../operation.ts";
import { contentFlags, contentOf, type ContentFlags } from "../task-content.ts";
import { taskFacts } from "../task-facts.ts";

const claim = operation("tasks.claim", {
  words: { waitMs: "--wait TIME", agentId: "--agent AGENT" },
  more: "Without one it ends with 1.",
  examples: [
    { call: "rollcall tasks claim --agent web-1", does: "if a task waits" },
    { call: "rollcall tasks claim --agent web-1 --wait 5m --json", does: "or wait for one" },
  ],
  async ask(send, { context, input: { waitMs = 0 } }) {
    const signal = context.untilInterrupted();
    if (waitMs > 0) await note(context, `waiting for a task, ${shortDuration(waitMs)} at most`);
    return send({ waitMs, signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
      return { task: null };
    });
  },
  isNothing: ({ task }) => task === null,
  async show({ task }, { context, input: { waitMs = 0 } }) {
    if (task) return printFacts(context, taskFacts(task, "blue"));
    const waited = waitMs === 0 ? "" : ` within ${shortDuration(waitMs)}`;
    await note(context, `no task for this agent${waited}`);
  },
});

const HELD = { taskId: "TASK", token: "--token TOKEN", agentId: "--agent AGENT" } as const;

const renew = operation("tasks.renew", {
  words: HELD,
  examples: [
    { call: "rollcall tasks renew ocr --agent web-1", does: "well before the claim ends" },
  ],
});

const complete = operation<"tasks.complete", ContentFlags<"output">>("tasks.complete", {
  words: HELD,
  flags: contentFlags("output", "The result"),
  fill: (flags) => contentOf("output", flags),
  examples: [
    { call: "rollcall tasks complete ocr --agent web-1 --output 'total: 42'", does: "text" },
    { call: "rollcall tasks complete 9b1d04ce --agent web-1 --output-file a.pdf", does: "bytes" },
  ],
});

const fail = operation("tasks.fail", {
  words: { ...HELD, reason: "--reason TEXT" },
  examples: [
    { call: "rollcall tasks fail ocr --agent web-1 --reason 'not found'", does: "and says why" },
  ],
});

export const work = { claim, renew, complete, fail } as const;
