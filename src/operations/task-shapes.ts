/**
 * Tasks as they are answered. What goes into a task and comes out of it is bytes: in JSON, `input`
 * and `output` are base64, as in events; people and most programs have text, so `inputText` and
 * `outputText` say the same as text, where the bytes are UTF-8.
 */
import { z } from "zod";
import type { State } from "../core/state.ts";
import type { Task } from "../core/tasks.ts";
import { fencingToken, moment, OWNER, SOME_ID, text, whole } from "./fields.ts";
import { agentNameOf } from "./names.ts";
import type { Answer } from "./operation.ts";
import { textOf } from "./task-bytes.ts";

export const TASK_STATUSES = ["pending", "claimed", "completed", "dead", "cancelled"] as const;

export const TYPE = text("The kind of work: any text on one line, such as review", "ocr");

const FACTS = {
  id: z.string().meta({ examples: [SOME_ID] }),
  owner: OWNER,
  type: TYPE,
  status: z.enum(TASK_STATUSES),
  requiredTools: z.array(z.string().meta({ examples: ["vision"] })),
  maxRetries: z.int().meta({ examples: [3] }),
  retryCount: z.int().meta({ examples: [0] }),
  ttlMs: whole("How long a claim lasts", 60_000),
  pendingTtlMs: whole(
    "How long after its creation it may be claimed; absent: for ever",
    3_600_000,
  ).exactOptional(),
  claimedBy: text("The agent that works on it, or did last; empty before the first", SOME_ID),
  token: fencingToken("Of its claim; 0 without one"),
  expiresAtMs: moment("When the claim ends"),
  failureReason: text("Of the last failure, or of the cancel", ""),
  createdAtMs: moment("When it was created"),
  claimedAtMs: moment("When it was claimed"),
  finishedAtMs: moment("When it was completed, given up or cancelled"),
} as const;

const claimedByName = z.string().meta({ examples: ["scanner"] });

/** In a list: what goes in and comes out may be megabytes. */
export const TASK_ROW = z
  .strictObject({
    ...FACTS,
    claimedByName,
    inputBytes: z.int().meta({ examples: [11] }),
    outputBytes: z.int().meta({ examples: [0] }),
  })
  .meta({ id: "TaskRow" });

/** Alone. */
export const TASK = z
  .strictObject({
    ...FACTS,
    input: text("As base64", "c2Nhbi0xNy5wbmc="),
    output: text("As base64", ""),
    inputText: text("Where it is text", "scan-17.png").exactOptional(),
    outputText: text("Where it is text", "").exactOptional(),
    claimedByName: claimedByName.exactOptional(),
  })
  .meta({ id: "Task" });

export function taskRowOf(state: State, { input, output, ...task }: Task): Answer<typeof TASK_ROW> {
  const name = agentNameOf(state, task.claimedBy);
  return {
    ...task,
    claimedByName: name,
    inputBytes: bytesIn(input),
    outputBytes: bytesIn(output),
  };
}

export function detailOf(task: Task): Answer<typeof TASK> {
  const [inputText, outputText] = [textOf(task.input), textOf(task.output)];
  return {
    ...task,
    ...(inputText !== undefined && { inputText }),
    ...(outputText !== undefined && { outputText }),
  };
}

function bytesIn(base64: string): number {
  return Buffer.byteLength(base64, "base64");
}
