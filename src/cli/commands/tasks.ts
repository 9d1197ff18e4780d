/** `rollcall tasks`: the queue, to look at and to fill. What a worker does is in work.ts. */
import { buildCommand } from "@stricli/core";
import type { Task, TaskStatus } from "../../core/tasks.ts";
import { withShortIds } from "../../core/words.ts";
import type { TaskDetail, TaskRow } from "../../wires/api/answers.ts";
import type { Context } from "../context.ts";
import { agentId, daemonOf, itemPath, lookOf, note, printJson, read, taskId } from "../daemon.ts";
import { durationFlag } from "../durations.ts";
import { answerFlags, argument, listFlags, textFlag, textsFlag, wordsFlag } from "../flags.ts";
import type { AnswerFlags, ListFlags } from "../flags.ts";
import { about } from "../help.ts";
import { list, type Listing } from "../listing.ts";
import { contentFlags, contentOf, type ContentFlags } from "../task-content.ts";
import { taskFacts } from "../task-facts.ts";
import { clean } from "../terminal/clean.ts";
import type { Style } from "../terminal/output.ts";
import { factLines } from "../terminal/table.ts";
import { ago, inTime } from "../terminal/time.ts";

const STATUSES = ["pending", "claimed", "completed", "dead"] as const;

const COLOURS: Readonly<Record<TaskStatus, Style>> = {
  pending: "yellow",
  claimed: "blue",
  completed: "green",
  dead: "red",
};

interface Filters extends ListFlags {
  readonly all?: boolean;
  readonly status?: readonly TaskStatus[];
  readonly type?: string;
  readonly agent?: string;
}

function listing({ all = false, status, type, agent }: Filters): Listing<TaskRow> {
  const unfinished = all ? undefined : (["pending", "claimed"] as const);
  return {
    noun: "tasks",
    params: { status: status ?? unfinished, type, claimedBy: agent },
    topics: ["task."],
    columns: [
      { title: "ID" },
      { title: "TYPE", least: 10 },
      { title: "STATUS" },
      { title: "AGENT", least: 14 },
      { title: "CREATED" },
      { title: "CLAIM ENDS", isExtra: true },
      { title: "RETRIES", isExtra: true },
      { title: "NEEDS", least: 8, isExtra: true },
      { title: "LAST FAILURE", least: 16, isExtra: true },
    ],
    cells: (task, { nowMs, id }) => [
      id(task.id),
      task.type,
      { text: task.status, style: COLOURS[task.status] },
      claimerOf(task, id),
      ago(task.createdAtMs, nowMs),
      task.status === "claimed" ? inTime(task.expiresAtMs, nowMs) : "",
      `${task.retryCount} of ${task.maxRetries}`,
      task.requiredTools.join(", "),
      withShortIds(task.failureReason),
    ],
    key: ({ id }) => id,
    nothing:
      (status ?? type ?? agent)
        ? "no task fits; `rollcall tasks --all` shows all, finished ones too"
        : "no unfinished tasks; `rollcall tasks create TYPE` makes one; --all shows all",
  };
}

function claimerOf({ claimedBy, claimedByName }: TaskRow, id: (id: string) => string): string {
  return `${id(claimedBy)} ${claimedByName}`.trim();
}

export const tasksList = buildCommand<Filters, [], Context>({
  docs: {
    brief: "List the tasks that are not finished",
    fullDescription: about(
      "List the tasks that are not finished, the first to come first; with --all the completed " +
        "and the dead of the last day as well.",
      { call: "rollcall tasks", does: "what waits, and what is worked on" },
      { call: "rollcall tasks --status dead", does: "what ran out of retries" },
      { call: "rollcall tasks --type ocr --watch", does: "live" },
    ),
  },
  parameters: {
    flags: {
      all: { kind: "boolean", optional: true, withNegated: false, brief: "Finished ones as well" },
      status: wordsFlag(STATUSES),
      type: textFlag("TYPE", "Only those of this type"),
      agent: textFlag("AGENT", "Only those that this agent claimed"),
      ...listFlags,
    },
  },
  async func(flags) {
    await list(this, flags, async (daemon) => {
      if (flags.agent === undefined) return listing(flags);
      return listing({ ...flags, agent: await agentId(daemon, flags.agent) });
    });
  },
});

export const tasksGet = buildCommand<AnswerFlags, [string], Context>({
  docs: {
    brief: "Show one task with what went in and came out",
    fullDescription: about("Show one task, with what went in and what came out.", {
      call: "rollcall tasks get 9b1d04ce",
      does: "the beginning of an id is enough",
    }),
  },
  parameters: {
    flags: answerFlags,
    positional: {
      kind: "tuple",
      parameters: [argument("TASK", "A task's id, or enough of its beginning")],
    },
  },
  async func(flags, given) {
    await using daemon = daemonOf(this, flags);
    const path = itemPath("/v1/tasks", await taskId(daemon, given));
    const answer = await read<{ readonly task: TaskDetail }>(daemon, path);
    if (flags.json === true) return await printJson(this, answer);
    const { task } = answer;
    const facts = taskFacts(task, { nowMs: Date.now(), style: COLOURS[task.status] });
    for (const line of factLines(facts, lookOf(this))) await this.out.line(line);
  },
});

interface CreateFlags extends AnswerFlags, ContentFlags<"input"> {
  readonly tool?: readonly string[];
  readonly retries?: number;
  readonly ttl?: number;
}

export const tasksCreate = buildCommand<CreateFlags, [string], Context>({
  docs: {
    brief: "Create a task, and print its id",
    fullDescription: about(
      "Create a task that any agent with the right tools may claim, and print its id.",
      { call: "rollcall tasks create ocr --input scan-17.png --tool vision", does: "text" },
      { call: "rollcall tasks create ocr --input-file scan-17.png", does: "the bytes of a file" },
      { call: "jq .job plan.json | rollcall tasks create run --input-file -", does: "from a pipe" },
    ),
  },
  parameters: {
    flags: {
      ...contentFlags("input", "What the worker gets"),
      tool: textsFlag("TOOL", "The worker must have it; may be given several times"),
      retries: {
        kind: "parsed",
        optional: true,
        parse: parseRetries,
        placeholder: "N",
        brief: "How often it may be tried again [0]",
      },
      ttl: durationFlag("How long a claim lasts [60s]"),
      ...answerFlags,
    },
    positional: {
      kind: "tuple",
      parameters: [argument("TYPE", "What kind of work it is: any text on one line")],
    },
  },
  async func(flags, type) {
    await using daemon = daemonOf(this, flags);
    const answer = await daemon.post("/v1/tasks/create", {
      type,
      ...(await contentOf("input", flags)),
      requiredTools: flags.tool ?? [],
      maxRetries: flags.retries ?? 0,
      ttlMs: flags.ttl ?? 0,
    });
    if (flags.json === true) return await printJson(this, answer);
    const task = answer["task"] as Task;
    await this.out.line(clean(task.id));
    const needs = task.requiredTools.length > 0 ? ` with ${task.requiredTools.join(", ")}` : "";
    await note(this, `${type} waits for an agent${needs}`);
  },
});

function parseRetries(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Error("not a whole number from 0 up");
}
