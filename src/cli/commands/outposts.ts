/** `rollcall outposts`: the machines whose daemons report to this one. */
import type { AnswerOf } from "../../operations/table.ts";
import { listOperation } from "../list-command.ts";
import { operation } from "../operation.ts";
import type { Cell } from "../terminal/table.ts";
import { ago } from "../terminal/time.ts";

type OutpostRow = AnswerOf<"outposts.list">["outposts"][number];

function stateOf({ silentSinceMs, isConnected }: OutpostRow): Cell {
  if (silentSinceMs > 0) return { text: "silent", style: "red" };
  return isConnected ? { text: "connected", style: "green" } : { text: "no link", style: "yellow" };
}

/** Since when it is silent, else since when it is here. */
function sinceOf({ silentSinceMs, joinedAtMs }: OutpostRow, nowMs: number): string {
  return ago(silentSinceMs || joinedAtMs, nowMs);
}

const list = listOperation("outposts.list", {
  examples: [
    { call: "rollcall outposts", does: "all of them, also those that are silent" },
    { call: "rollcall outposts --watch", does: "as they come and go" },
  ],
  topics: ["outpost.joined", "outpost.silent", "outpost.forgotten"],
  columns: [
    { title: "HOST", least: 8, cell: ({ host }) => host },
    { title: "STATE", cell: stateOf },
    { title: "SINCE", cell: (row, { nowMs }) => sinceOf(row, nowMs) },
    { title: "AGENTS", isNumber: true, cell: ({ agents }) => String(agents) },
    { title: "SHARES", cell: ({ share }) => share },
    { title: "ACCEPTS", cell: ({ accept }) => accept },
    { title: "MACHINE", least: 8, isExtra: true, cell: ({ machine }) => machine },
    { title: "VERSION", isExtra: true, cell: ({ version }) => version },
  ],
  key: ({ host }) => host,
  nothing: [
    "no outposts: `rollcall tokens create NAME --role outpost --host HOST` lets one join",
    "no outpost fits; `rollcall outposts` shows all",
  ],
});

const cancel = operation("outposts.cancel", {
  words: { host: "HOST", jobId: "JOB", reason: "--reason TEXT" },
  examples: [
    { call: "rollcall outposts cancel box job_01KZ4TA0", does: "if that machine accepts jobs" },
  ],
});

const run = operation("outposts.run", {
  words: { host: "HOST", agent: "AGENT", input: "--input INPUT", key: "--key KEY" },
  more: "Prints the job's id; `rollcall jobs` shows how it goes.",
  examples: [
    {
      call: `rollcall outposts run box echo --input '{"hi": 1}'`,
      does: "if that machine accepts jobs",
    },
  ],
  show: ({ jobId }, { context }) => context.out.line(jobId),
});

export const outposts = { list, run, cancel } as const;
