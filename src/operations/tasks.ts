/**
 * The queue: work that any agent with the right tools may take, once. A worker asks for a task and
 * may wait for one to come:
 *
 *   claim ──▶ a task fits ──▶ {task}
 *     │  waitMs pass ───────▶ {task: null}
 *     └─ the caller is gone ─▶ nothing is claimed
 */
import { z } from "zod";
import type { Access } from "../core/access.ts";
import type { Order } from "../core/pages.ts";
import { taskFor } from "../core/fencing.ts";
import { count, key } from "../core/fields.ts";
import { seesTask, sightOf } from "../core/visibility.ts";
import type { Task, TaskEntry } from "../core/tasks.ts";
import {
  ACTING_AGENT,
  fencingToken,
  prefix,
  SEQUENCE,
  SOME_ID,
  someOf,
  text,
  ttl,
  whole,
} from "./fields.ts";
import { CLAIM } from "./limits.ts";
import { FILTERED, listJson, listPage, PAGE } from "./lists.ts";
import { meantBy } from "./meant-by.ts";
import { agentNameOf } from "./names.ts";
import { operation, type Uses } from "./operation.ts";
import { check } from "./parse.ts";
import { base64Of } from "./task-bytes.ts";
import { detailOf, taskRowOf, TASK_STATUSES, TASK, TASK_ROW, TYPE } from "./task-shapes.ts";

const TASK_ID = text("The task's id", SOME_ID);

/** The first to come first. */
const ORDER: Order<Pick<Task, "id" | "createdAtMs">> = {
  atMs: ({ createdAtMs }) => createdAtMs,
  key: ({ id }) => id,
};

const list = operation({
  path: "/v1/tasks",
  effect: "reads",
  access: { action: "task.read", resource: "task:*" },
  brief: "List the tasks",
  about:
    "List the tasks, the first to come first; the completed and the dead of the last day too. " +
    "Inputs and outputs are told by their size.",
  input: z.strictObject({
    ...PAGE,
    status: someOf(TASK_STATUSES),
    type: text("Only those of this type").optional(),
    claimedBy: text("Only tasks that this agent claimed").optional(),
    idPrefix: prefix("Only ids with this prefix"),
  }),
  output: z.strictObject({ ...FILTERED, tasks: z.array(TASK_ROW) }),
  async run({ engine }: Uses<"engine">, { status, type, claimedBy, idPrefix, ...page }, { by }) {
    const sight = sightOf(by.principal);
    const isWanted = ({ task }: TaskEntry) =>
      (status.length === 0 || status.includes(task.status)) &&
      (type === undefined || task.type === type) &&
      (claimedBy === undefined || task.claimedBy === claimedBy) &&
      task.id.startsWith(idPrefix);
    const isFiltered =
      status.length > 0 || type !== undefined || claimedBy !== undefined || idPrefix !== "";
    const { items, ...facts } = await listPage(
      {
        engine,
        list: (lists) => lists.tasksSeen(sight),
        isWanted: isFiltered ? isWanted : undefined,
        show: ({ task }, state) => taskRowOf(state, taskFor(state, task, by)),
      },
      page,
    );
    return { ...facts, tasks: items };
  },
  json: listJson("tasks", ORDER),
});

const READ: Access = { action: "task.read", resource: "task:{taskId}" };

const get = operation({
  path: "/v1/tasks/{taskId}",
  effect: "reads",
  access: READ,
  brief: "Show one task",
  about: "Show one task, with its input and its output.",
  input: z.strictObject({
    taskId: text(
      "A task by its id or its beginning, or by its type if it is the only one",
      SOME_ID,
    ),
  }),
  output: z.strictObject({ task: TASK, sequence: SEQUENCE }),
  async run({ engine, permit }: Uses<"engine" | "permit">, { taskId }, { by }) {
    const sight = sightOf(by.principal);
    const { task, claimedByName, sequence } = await meantBy(
      {
        engine,
        search: { word: taskId, noun: "task" },
        items: ({ tasks: { byId } }) => byId,
        sees: (each, state) => seesTask(sight, state, each.task),
        namesOf,
        permit: (id) => permit(by, READ, { taskId: id }),
      },
      (each, state) => ({
        task: taskFor(state, each.task, by),
        claimedByName: agentNameOf(state, each.task.claimedBy),
      }),
    );
    return { task: { ...detailOf(task), claimedByName }, sequence };
  },
});

function namesOf({ task: { id, type, status } }: TaskEntry) {
  return { id, name: type, isHere: status === "pending" || status === "claimed" };
}

const create = operation({
  path: "/v1/tasks/create",
  effect: "adds",
  access: { action: "task.create", resource: "task:*" },
  brief: "Create a task",
  about: "Create a task that any agent with the right tools may claim.",
  input: z.strictObject({
    type: TYPE,
    input: text("The input for the worker, as base64; or inputText").optional(),
    inputText: text(
      "The input for the worker: all that it needs to know",
      "scan-17.png",
    ).optional(),
    requiredTools: z
      .array(z.string().meta({ examples: ["vision"] }))
      .default([])
      .describe("The worker must have all of these tools"),
    maxRetries: whole("How often it is tried again if it fails", 3).min(0).default(0),
    ttlMs: ttl("How long a claim lasts, up to a day; 60 s unless set"),
    pendingTtlMs: ttl("How long it may wait to be claimed, up to 30 days; for ever unless set"),
  }),
  output: z.strictObject({ task: TASK }),
  async run(
    { engine }: Uses<"engine">,
    { type: taskType, input: base64, inputText, ...rest },
    { by },
  ) {
    const input = base64Of("input", { base64, text: inputText });
    const task = await engine.execute({ type: "task.create", taskType, input, ...rest }, by);
    return { task: detailOf(task) };
  },
});

const cancel = operation({
  path: "/v1/tasks/cancel",
  effect: "ends",
  access: { action: "task.cancel", resource: "task:{taskId}" },
  brief: "Cancel a task",
  about:
    "Take a task out of the queue, also one that an agent works on: the agent is refused when it " +
    "next renews, completes or fails it.",
  input: z.strictObject({
    taskId: TASK_ID,
    reason: text("Why, in a sentence", "no longer needed").default(""),
  }),
  output: z.strictObject({ task: TASK }),
  run: async ({ engine }: Uses<"engine">, input, { by }) => ({
    task: detailOf(await engine.execute({ type: "task.cancel", ...input }, by)),
  }),
});

const claim = operation({
  path: "/v1/tasks/claim",
  effect: "adds",
  access: { action: "task.claim", resource: "task:*" },
  brief: "Claim the next task",
  about:
    "Claim the task that has waited longest of those the agent has the tools for; null when " +
    "none comes in time. A caller that hangs up before the answer has claimed nothing.",
  input: z.strictObject({
    agentId: ACTING_AGENT,
    waitMs: whole("How long to wait for one to come, up to ten minutes", 60_000).default(0),
  }),
  output: z.strictObject({ task: TASK.nullable() }),
  async run({ claims, clock }: Uses<"claims" | "clock">, { agentId, waitMs }, { by, signal }) {
    check(key("agentId", agentId), count("waitMs", waitMs, CLAIM.waitMsMost));
    const task = await claims.claimWithin({ agentId, by }, { waitMs, clock, signal });
    return { task: task && detailOf(task) };
  },
});

/** A task that a worker has claimed. */
const HELD = z.strictObject({
  taskId: TASK_ID,
  agentId: ACTING_AGENT,
  token: fencingToken("The token of the claim: with it an old claim is refused").optional(),
});

const renew = operation({
  path: "/v1/tasks/renew",
  effect: "sets",
  access: { action: "task.renew", resource: "task:{taskId}" },
  brief: "Say that a task is still worked on",
  about: "Say that a task is still worked on: the claim lasts a full ttl more.",
  input: HELD,
  output: z.strictObject({ task: TASK }),
  run: async ({ engine }: Uses<"engine">, input, { by }) => ({
    task: detailOf(await engine.execute({ type: "task.renew", ...held(input) }, by)),
  }),
});

const complete = operation({
  path: "/v1/tasks/complete",
  effect: "ends",
  access: { action: "task.complete", resource: "task:{taskId}" },
  brief: "Complete a task",
  about: "Say that a task is done, and give its result.",
  input: HELD.extend({
    output: text("The result, as base64; or outputText").optional(),
    outputText: text("The result, as text", "total: 42").optional(),
  }),
  output: z.strictObject({}),
  async run({ engine }: Uses<"engine">, { output: base64, outputText, ...input }, { by }) {
    const output = base64Of("output", { base64, text: outputText });
    await engine.execute({ type: "task.complete", ...held(input), output }, by);
    return {};
  },
});

const fail = operation({
  path: "/v1/tasks/fail",
  effect: "ends",
  access: { action: "task.fail", resource: "task:{taskId}" },
  brief: "Give a task up",
  about: "Give a task up. It goes back to the queue while it has retries left, else it is dead.",
  input: HELD.extend({
    reason: text("Why, in a sentence", "page not found").default(""),
  }),
  output: z.strictObject({}),
  async run({ engine }: Uses<"engine">, { reason, ...input }, { by }) {
    await engine.execute({ type: "task.fail", ...held(input), reason }, by);
    return {};
  },
});

export const tasks = { list, get, create, cancel, claim, renew, complete, fail } as const;

/** Without a token rather than with one that is undefined. */
function held({ token, ...rest }: z.output<typeof HELD>) {
  return { ...rest, ...(token !== undefined && { token }) };
}
