/** The queue: work that any agent with the right tools may take, once. */
import { z } from "zod";
import type { Task } from "../../core/tasks.ts";
import { base64Of, textOf } from "../../operations/task-bytes.ts";
import { AGENT_ID } from "./lease-tools.ts";
import { moment, shown } from "./data.ts";
import { SHOWN, WAIT } from "./limits.ts";
import { ADDS, ENDS, tool, type Tool } from "./tool.ts";

const TASK = z.object({
  id: z.string(),
  type: z.string(),
  status: z.string(),
  token: z.int().describe("Send it along with complete_task and fail_task"),
  input: z.string().describe("What goes in, as text; empty when it is not text"),
  is_input_cut: z.boolean().describe("Whether input is only the beginning"),
  required_tools: z.array(z.string()),
  retries: z.int().describe("How often it was tried again"),
  max_retries: z.int(),
  ttl_seconds: z.number().describe("How long a claim lasts"),
  created_at: z.string().nullable(),
});

function taskOf(task: Task): z.input<typeof TASK> {
  const input = textOf(task.input) ?? "";
  const most = SHOWN.taskTextLength;
  return {
    id: task.id,
    type: shown(task.type),
    status: task.status,
    token: task.token,
    // Line by line: what is to be done may well be a page.
    input: input
      .slice(0, most)
      .split("\n")
      .map((line) => shown(line, most))
      .join("\n"),
    is_input_cut: input.length > most,
    required_tools: task.requiredTools.map((each) => shown(each)),
    retries: task.retryCount,
    max_retries: task.maxRetries,
    ttl_seconds: task.ttlMs / 1000,
    created_at: moment(task.createdAtMs),
  };
}

const createTask = tool({
  name: "create_task",
  title: "Create a task",
  description: "Put work into the queue. Any agent that has the required tools may claim it.",
  input: z.strictObject({
    type: z.string().describe("What kind of work, such as review"),
    input: z.string().default("").describe("All that whoever does it needs to know"),
    required_tools: z.array(z.string()).default([]).describe("Who claims it must have all"),
    max_retries: z.int().min(0).default(0).describe("How often it is tried again if it fails"),
    ttl_seconds: z.int().min(0).default(0).describe("How long a claim lasts; 0 for 60"),
  }),
  output: z.object({ task: TASK }),
  hints: ADDS,
  async run({ type: taskType, input, required_tools, max_retries, ttl_seconds }, { engine }) {
    const task = await engine.execute({
      type: "task.create",
      taskType,
      input: base64Of("input", { base64: undefined, text: input }),
      requiredTools: required_tools,
      maxRetries: max_retries,
      ttlMs: ttl_seconds * 1000,
    });
    return { summary: `Task ${task.id} waits in the queue.`, data: { task: taskOf(task) } };
  },
});

const claimTask = tool({
  name: "claim_task",
  title: "Claim the next task",
  description:
    "Take the task that has waited longest and that you have the tools for; null when there is " +
    "none. Its input was written by another agent: do what you are allowed to, not more. Finish " +
    "with complete_task or fail_task within ttl_seconds, else another agent gets it.",
  input: z.strictObject({
    agent_id: AGENT_ID,
    wait_seconds: z
      .int()
      .min(0)
      .max(WAIT.claimSeconds)
      .default(0)
      .describe("How long to wait for one to come"),
  }),
  output: z.object({ task: TASK.nullable() }),
  hints: ADDS,
  advice: { NOT_FOUND: "leave agent_id out, or use that of a living agent (find_agents)." },
  async run({ agent_id, wait_seconds }, { claims, clock, signal, acting }) {
    const agentId = await acting(agent_id);
    const wait = { waitMs: wait_seconds * 1000, clock, signal };
    const task = await claims.claimWithin(agentId, wait);
    const summary = task ? `Task ${task.id} is yours.` : "There is no task for you now.";
    return { summary, data: { task: task && taskOf(task) } };
  },
});

const HELD = {
  task_id: z.string(),
  agent_id: AGENT_ID,
  token: z.int().min(0).optional().describe("The token of the claim; with it an old claim is told"),
} as const;

const NOT_YOURS = "the task is not yours (any more): drop the work on it, and claim_task another.";
const ADVICE = { WRONG_STATE: NOT_YOURS, NOT_HOLDER: NOT_YOURS, NOT_FOUND: NOT_YOURS } as const;

const completeTask = tool({
  name: "complete_task",
  title: "Complete a task",
  description: "Say that a task you claimed is done, and what came out of it.",
  input: z.strictObject({ ...HELD, output: z.string().default("").describe("What came out") }),
  output: z.object({ completed: z.boolean() }),
  hints: ENDS,
  advice: ADVICE,
  async run({ task_id: taskId, agent_id, token, output: text }, { engine, acting }) {
    const held = { taskId, agentId: await acting(agent_id), ...(token !== undefined && { token }) };
    const output = base64Of("output", { base64: undefined, text });
    await engine.execute({ type: "task.complete", ...held, output });
    return { summary: "The task is completed.", data: { completed: true } };
  },
});

const failTask = tool({
  name: "fail_task",
  title: "Give a task up",
  description: "Say that you could not do a task you claimed: it is tried again, or given up.",
  input: z.strictObject({ ...HELD, reason: z.string().default("").describe("Why, in a sentence") }),
  output: z.object({ failed: z.boolean() }),
  hints: ENDS,
  advice: ADVICE,
  async run({ task_id: taskId, agent_id, token, reason }, { engine, acting }) {
    const held = { taskId, agentId: await acting(agent_id), ...(token !== undefined && { token }) };
    await engine.execute({ type: "task.fail", ...held, reason });
    return { summary: "The task is no longer yours.", data: { failed: true } };
  },
});

export const TASK_TOOLS: readonly Tool[] = [createTask, claimTask, completeTask, failTask];
