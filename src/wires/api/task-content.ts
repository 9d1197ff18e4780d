/**
 * What goes into a task and comes out of it is bytes. In JSON, `input` and `output` are base64, as
 * in events; people and most programs have text, so `inputText` and `outputText` say the same as
 * text: to send, in place of the other; to read, beside it, when the bytes are UTF-8.
 */
import { z } from "zod";
import type { State } from "../../core/state.ts";
import type { Task } from "../../core/tasks.ts";
import { textOf } from "../task-bytes.ts";
import type { TaskDetail, TaskRow } from "./answers.ts";
import { nameOf } from "./names.ts";

/** The two fields of a body, of which one may be given. */
export const INPUT = { input: z.string().optional(), inputText: z.string().optional() } as const;
export const OUTPUT = { output: z.string().optional(), outputText: z.string().optional() } as const;

export function taskRow(state: State, { input, output, ...task }: Task): TaskRow {
  const claimedByName = nameOf(state, task.claimedBy);
  return { ...task, claimedByName, inputBytes: bytesIn(input), outputBytes: bytesIn(output) };
}

export function taskDetail(task: Task): TaskDetail {
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
