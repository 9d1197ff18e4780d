/** `rollcall tasks`: the queue, to look at and to fill. What a worker does is in work.ts. */
import type { TaskStatus } from "../../core/tasks.ts";
import { withShortIds } from "../../core/words.ts";
import type { TaskRow } from "../../wires/api/answers.ts";
import { note, printFacts } from "../print.ts";
import { switchFlag } from "../flags.ts";
import type { View } from "../listing.ts";
import { listOperation } from "../list-command.ts";
import { operation } from "../operation.ts";
import { contentFlags, contentOf, type ContentFlags } from "../task-content.ts";
import { taskFacts } from "../task-facts.ts";
import { clean } from "../terminal/clean.ts";
import type { Style } from "../terminal/output.ts";
import { ago, inTime } from "../terminal/time.ts";

const COLOURS: Readonly<Record<TaskStatus, Style>> = {
  pending: "yellow",
  claimed: "blue",
  completed: "green",
  dead: "red",
  cancelled: "dim",
};

const UNFINISHED: readonly TaskStatus[] = ["pending", "claimed"];

function claimerOf({ claimedBy, claimedByName }: TaskRow, { id }: View): string {
  return `${id(claimedBy)} ${claimedByName}`.trim();
}

function endOf({ status, expiresAtMs }: TaskRow, { nowMs }: View): string {
  return status === "claimed" ? inTime(expiresAtMs, nowMs) : "";
}

interface ListFilters {
  readonly all?: boolean;
  readonly status?: readonly TaskStatus[];
}

const list = listOperation<"tasks.list", ListFilters>("tasks.list", {
  words: { status: "--status", type: "--type TYPE", claimedBy: "--agent AGENT" },
  flags: { all: switchFlag("Finished tasks as well") },
  fill: ({ all = false, status }) => (all || status ? {} : { status: UNFINISHED }),
  more: "Without --all only unfinished tasks.",
  examples: [
    { call: "rollcall tasks", does: "tasks that wait or are under way" },
    { call: "rollcall tasks --status dead", does: "tasks that ran out of retries" },
    { call: "rollcall tasks --type ocr --watch", does: "live" },
  ],
  topics: ["task."],
  columns: [
    { title: "ID", cell: (task, { id }) => id(task.id) },
    { title: "TYPE", least: 10, cell: ({ type }) => type },
    { title: "STATUS", cell: ({ status }) => ({ text: status, style: COLOURS[status] }) },
    { title: "AGENT", least: 14, cell: claimerOf },
    { title: "CREATED", cell: ({ createdAtMs }, { nowMs }) => ago(createdAtMs, nowMs) },
    { title: "CLAIM ENDS", isExtra: true, cell: endOf },
    { title: "RETRIES", isExtra: true, cell: (task) => `${task.retryCount} of ${task.maxRetries}` },
    { title: "NEEDS", least: 8, isExtra: true, cell: (task) => task.requiredTools.join(", ") },
    {
      title: "LAST FAILURE",
      least: 16,
      isExtra: true,
      cell: (task) => withShortIds(task.failureReason),
    },
  ],
  key: ({ id }) => id,
  nothing: [
    "no unfinished tasks; `rollcall tasks create TYPE` makes one; --all shows all",
    "no task fits; `rollcall tasks --all` shows all, finished ones too",
  ],
});

const get = operation("tasks.get", {
  words: { taskId: "TASK" },
  examples: [
    {
      call: "rollcall tasks get ocr",
      does: "by the beginning of its id, or its type if it is alone",
    },
  ],
  show: ({ task }, { context }) => printFacts(context, taskFacts(task, COLOURS[task.status])),
});

const create = operation<"tasks.create", ContentFlags<"input">>("tasks.create", {
  words: {
    type: "TYPE",
    requiredTools: "--tool TOOL",
    maxRetries: "--retries N",
    ttlMs: "--ttl TIME",
    pendingTtlMs: "--pending-ttl TIME",
  },
  flags: contentFlags("input", "The input for the worker"),
  fill: (flags) => contentOf("input", flags),
  more: "It prints the task's id.",
  examples: [
    { call: "rollcall tasks create ocr --input scan-17.png", does: "text" },
    { call: "rollcall tasks create ocr --input-file scan-17.png --tool vision", does: "bytes" },
    { call: "rollcall tasks create news --pending-ttl 1h", does: "waits 1 h" },
    { call: "jq .job plan.json | rollcall tasks create run --input-file -", does: "from a pipe" },
  ],
  async show({ task: { id, type, requiredTools } }, { context }) {
    await context.out.line(clean(id));
    const needs = requiredTools.length > 0 ? ` with ${requiredTools.join(", ")}` : "";
    await note(context, `${type} waits for an agent${needs}`);
  },
});

const cancel = operation("tasks.cancel", {
  words: { taskId: "TASK", reason: "--reason WHY" },
  examples: [
    { call: "rollcall tasks cancel ocr", does: "by its type, or its id" },
    { call: "rollcall tasks cancel 3f2a --reason 'no longer needed'", does: "and say why" },
  ],
});

export const tasks = { list, get, create, cancel } as const;
