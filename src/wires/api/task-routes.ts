/**
 * The queue over HTTP. A worker asks for a task and may wait for one to come:
 *
 *   claim ──▶ a task fits ──▶ {task}
 *     │  waitMs pass ───────▶ {task: null}
 *     └─ the caller is gone ─▶ nothing is claimed
 */
import type { ServerResponse } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import { Hono } from "hono";
import { z } from "zod";
import { RollcallError } from "../../core/errors.ts";
import { count, key, prose, ttl } from "../../core/fields.ts";
import { FIELD } from "../../core/limits.ts";
import type { Task, TaskEntry } from "../../core/tasks.ts";
import type { TaskClaims } from "../../engine/claims.ts";
import type { Clock } from "../../core/clock.ts";
import type { Engine } from "../../engine/engine.ts";
import { base64Of } from "../task-bytes.ts";
import { CLAIM } from "./limits.ts";
import { nameOf } from "./names.ts";
import { matching, pageOf, sendPage, type Order } from "./pages.ts";
import { bodyOf, check, LIST_QUERY, queryOf, ttlMs } from "./parse.ts";
import { INPUT, OUTPUT, taskDetail, taskRow } from "./task-content.ts";

const LIST = z.strictObject({
  ...LIST_QUERY,
  status: z.array(z.enum(["pending", "claimed", "completed", "dead"])),
  type: z.string().optional(),
  claimedBy: z.string().optional(),
  idPrefix: z.string().default(""),
});

const CREATE = z.strictObject({
  type: z.string(),
  ...INPUT,
  requiredTools: z.array(z.string()).default([]),
  maxRetries: z.int().default(0),
  ttlMs,
});

const CLAIMED = z.strictObject({ agentId: z.string(), waitMs: z.int().default(0) });

const HELD = z.strictObject({
  taskId: z.string(),
  agentId: z.string(),
  /** Who sends the token of its claim is held to it. */
  token: z.int().min(0).optional(),
});
const COMPLETE = HELD.extend(OUTPUT);
const FAIL = HELD.extend({ reason: z.string().default("") });

/** The first to come first. */
const ORDER: Order<Pick<Task, "id" | "createdAtMs">> = {
  atMs: ({ createdAtMs }) => createdAtMs,
  key: ({ id }) => id,
};

export interface TaskRoutesOptions {
  readonly engine: Engine;
  readonly claims: TaskClaims;
  readonly clock: Clock;
}

export function taskRoutes(options: TaskRoutesOptions): Hono<{ Bindings: HttpBindings }> {
  const { engine } = options;
  const routes = new Hono<{ Bindings: HttpBindings }>();
  routes.get("/tasks", async (c) => {
    const { status, type, claimedBy, idPrefix, ...asked } = queryOf(c, LIST);
    const isWanted = (task: Task) =>
      (status.length === 0 || status.includes(task.status)) &&
      (type === undefined || task.type === type) &&
      (claimedBy === undefined || task.claimedBy === claimedBy) &&
      task.id.startsWith(idPrefix);
    const found = await engine.read((state, sequence) => {
      const tasks = tasksOf(state.tasks.byId.values());
      const page = pageOf(matching(tasks, isWanted), ORDER, asked);
      return { sequence, page: { ...page, items: page.items.map((each) => taskRow(state, each)) } };
    });
    return sendPage(c, { name: "tasks", order: ORDER, ...found });
  });
  routes.get("/tasks/:taskId", async (c) => {
    queryOf(c, z.strictObject({}));
    const taskId = c.req.param("taskId");
    const found = await engine.read((state, sequence) => {
      const task = state.tasks.byId.get(taskId)?.task;
      return task && { task, claimedByName: nameOf(state, task.claimedBy), sequence };
    });
    if (!found) throw new RollcallError("NOT_FOUND", `no task ${taskId}`);
    const { task, claimedByName, sequence } = found;
    return c.json({ task: { ...taskDetail(task), claimedByName }, sequence });
  });
  routes.post("/tasks/create", async (c) => {
    const { type: taskType, input, inputText, ...rest } = await bodyOf(c, CREATE);
    check(
      key("type", taskType, FIELD.nameLength),
      ttl("ttlMs", rest.ttlMs),
      count("maxRetries", rest.maxRetries, FIELD.maxRetries),
      ...rest.requiredTools.map((tool, i) => key(`requiredTools[${i}]`, tool, FIELD.nameLength)),
    );
    const bytes = base64Of("input", { base64: input, text: inputText });
    const task = await engine.execute({ type: "task.create", taskType, input: bytes, ...rest });
    return c.json({ task: taskDetail(task) });
  });
  routes.post("/tasks/claim", async (c) => {
    const { agentId, waitMs } = await bodyOf(c, CLAIMED);
    check(key("agentId", agentId), count("waitMs", waitMs, CLAIM.waitMsMost));
    const task = await claim(options, { agentId, waitMs, response: c.env.outgoing });
    return c.json({ task: task && taskDetail(task) });
  });
  routes.post("/tasks/renew", async (c) => {
    const held = heldOf(await bodyOf(c, HELD));
    return c.json({ task: taskDetail(await engine.execute({ type: "task.renew", ...held })) });
  });
  routes.post("/tasks/complete", async (c) => {
    const { output, outputText, ...rest } = await bodyOf(c, COMPLETE);
    const bytes = base64Of("output", { base64: output, text: outputText });
    await engine.execute({ type: "task.complete", ...heldOf(rest), output: bytes });
    return c.json({});
  });
  routes.post("/tasks/fail", async (c) => {
    const { reason, ...rest } = await bodyOf(c, FAIL);
    check(prose("reason", reason, FIELD.reasonLength));
    await engine.execute({ type: "task.fail", ...heldOf(rest), reason });
    return c.json({});
  });
  return routes;
}

interface Wanted {
  readonly agentId: string;
  readonly waitMs: number;
  readonly response: ServerResponse;
}

async function claim(
  { claims, clock }: TaskRoutesOptions,
  { agentId, waitMs, response }: Wanted,
): Promise<Task | null> {
  const gone = new AbortController();
  const leave = () => gone.abort(new RollcallError("CANCELLED", "the client went away"));
  response.once("close", leave);
  if (response.destroyed) leave();
  try {
    return await claims.claimWithin(agentId, { waitMs, clock, signal: gone.signal });
  } finally {
    response.off("close", leave);
  }
}

function heldOf({ token, taskId, agentId }: z.output<typeof HELD>) {
  check(key("taskId", taskId), key("agentId", agentId));
  return { taskId, agentId, ...(token !== undefined && { token }) };
}

function* tasksOf(entries: Iterable<TaskEntry>): Generator<Task> {
  for (const { task } of entries) yield task;
}
