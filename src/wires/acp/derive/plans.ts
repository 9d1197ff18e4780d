/**
 * The plans of a session, as the one line that a person wants: "Step 2/5: Finding Rust files".
 * Only that line is kept. Of several plans the one that changed last and is not finished speaks.
 */
import { field } from "../../../core/text.ts";
import { idText, listIn, textIn } from "./frames.ts";
import { MEMORY, SHOWN } from "./limits.ts";
import { remember } from "./memory.ts";
import { cut, shownText } from "./shown.ts";

/** The current step by plan; null for a plan that is finished. The last one changed last. */
export type Plans = Map<string, string | null>;

/** The plan of v1 has no id, and there is one. */
const ONLY_PLAN = "";

const FINISHED: ReadonlySet<string> = new Set(["completed", "cancelled"]);

export function setPlan(plans: Plans, update: unknown): void {
  keep(plans, ONLY_PLAN, listIn(update, "entries"));
}

export function updatePlan(plans: Plans, update: unknown): void {
  const plan = field(update, "plan");
  const id = idText(plan, "planId");
  if (id !== undefined) keep(plans, id, listIn(plan, "entries"));
}

export function removePlan(plans: Plans, update: unknown): void {
  const id = idText(update, "planId");
  if (id !== undefined) plans.delete(id);
}

/** The to-do list that some agents keep in the input of a tool instead of a plan. */
export function setTodos(plans: Plans, update: unknown): void {
  const todos = listIn(field(update, "rawInput"), "todos");
  if (todos.length > 0) keep(plans, ONLY_PLAN, todos);
}

export function currentTask(plans: Plans): string | null {
  return [...plans.values()].findLast((step) => step !== null) ?? null;
}

function keep(plans: Plans, key: string, entries: readonly unknown[]): void {
  remember(plans, { key, value: currentStep(entries), most: MEMORY.plans });
}

function currentStep(entries: readonly unknown[]): string | null {
  const running = entries.findIndex((entry) => textIn(entry, "status") === "in_progress");
  const next = entries.findIndex((entry) => !FINISHED.has(textIn(entry, "status") ?? "pending"));
  const index = running === -1 ? next : running;
  if (index === -1) return null;
  const step = `Step ${index + 1}/${entries.length}`;
  const content = shownText(textIn(entries[index], "content"));
  return content === null ? step : cut(`${step}: ${content}`, SHOWN.message);
}
