/**
 * Whether a value is a status, or everything that is wrong with it, in the peer's words and order.
 * Written by hand: this runs in hooks that start for every step of an agent, and a library of
 * schemas would take longer to load than all of it takes.
 *
 * Stricter than the peer in two places, where it lets through what then breaks its own `list`: an
 * empty `runtime`, and a boolean as process id.
 */
import { GOAL_SOURCES, LIFECYCLES, SCHEMA_VERSION, TASK_STATES, type Status } from "./format.ts";
import { NumberText } from "./json-text.ts";
import { readTimestamp } from "./timestamp.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * An object of the status, how its fields are called in errors, and where those go. Prefixes and
 * lists of keys are constants: a folder of thousands is validated in one go.
 */
interface Section {
  readonly fields: Fields;
  readonly prefix: string;
  readonly errors: string[];
}

/** Every error; none for a status. */
export function validate(value: unknown): readonly string[] {
  if (!isObject(value)) return ["payload must be object"];
  const errors: string[] = [];
  const status: Section = { fields: value, prefix: "", errors };
  const version = requiredText(status, "schema_version");
  if (version !== undefined && version !== SCHEMA_VERSION) {
    errors.push(`unsupported schema_version: ${version}`);
  }
  requiredText(status, "agent_id");
  requiredText(status, "agent_name");
  const { runtime } = value;
  if (isObject(runtime)) checkRuntime({ fields: runtime, prefix: "runtime.", errors });
  else errors.push("missing or invalid object: runtime");
  checkOptional(status, "goal", checkGoal);
  checkOptional(status, "task", checkTask);
  checkOptional(status, "a2a", checkA2a);
  checkOptional(status, "x_meta", checkNothing);
  return errors;
}

export function isStatus(value: unknown): value is Status {
  return validate(value).length === 0;
}

const RUNTIME_TEXTS = ["workspace"] as const;
const TASK_TEXTS = ["id", "context_id", "summary"] as const;
const A2A_TEXTS = ["agent_card_url", "service_url"] as const;

function checkA2a(a2a: Section): void {
  checkTexts(a2a, A2A_TEXTS);
}

function checkNothing(): void {}

function checkRuntime(runtime: Section): void {
  const { fields, errors } = runtime;
  const lifecycle = requiredText(runtime, "lifecycle");
  if (lifecycle !== undefined && !isOneOf(LIFECYCLES, lifecycle)) {
    errors.push(`invalid runtime.lifecycle: ${lifecycle}`);
  }
  const updatedAt = requiredText(runtime, "updated_at");
  // The one moment that the peer complains about without its name.
  const problem = updatedAt === undefined ? undefined : timestampProblem(updatedAt);
  if (problem !== undefined) errors.push(problem);
  checkMoment(runtime, "last_activity_at");
  if ("pid" in fields && !isInteger(fields["pid"])) errors.push("runtime.pid must be integer");
  checkTexts(runtime, RUNTIME_TEXTS);
}

function checkGoal(goal: Section): void {
  requiredText(goal, "summary");
  const updatedAt = requiredText(goal, "updated_at");
  const source = requiredText(goal, "source");
  if (updatedAt !== undefined) checkMoment(goal, "updated_at");
  if (source !== undefined && !isOneOf(GOAL_SOURCES, source)) {
    goal.errors.push(`invalid goal.source: ${source}`);
  }
}

function checkTask(task: Section): void {
  const { fields, errors } = task;
  const state = fields["state"] ?? undefined;
  if (state !== undefined) {
    if (typeof state !== "string" || state === "") {
      errors.push("task.state must be non-empty string");
    } else if (!isOneOf(TASK_STATES, state)) {
      errors.push(`invalid task.state: ${state}`);
    }
  }
  checkTexts(task, TASK_TEXTS);
  checkMoment(task, "status_timestamp");
}

/** An object that may be missing or null. */
function checkOptional(
  { fields, prefix, errors }: Section,
  key: string,
  check: (section: Section) => void,
): void {
  const found = fields[key] ?? undefined;
  if (found === undefined) return;
  if (isObject(found)) check({ fields: found, prefix: `${prefix}${key}.`, errors });
  else errors.push(`${prefix}${key} must be object`);
}

function requiredText({ fields, prefix, errors }: Section, key: string): string | undefined {
  const found = fields[key] ?? undefined;
  if (typeof found === "string" && found !== "") return found;
  const problem = found === undefined ? "missing required field" : "field must be non-empty string";
  errors.push(`${problem}: ${prefix}${key}`);
  return undefined;
}

function checkTexts({ fields, prefix, errors }: Section, keys: readonly string[]): void {
  for (const key of keys) {
    if (key in fields && typeof fields[key] !== "string") {
      errors.push(`${prefix}${key} must be string`);
    }
  }
}

function checkMoment({ fields, prefix, errors }: Section, key: string): void {
  if (!(key in fields)) return;
  const problem = timestampProblem(fields[key]);
  if (problem !== undefined) errors.push(`${prefix}${key}: ${problem}`);
}

function timestampProblem(value: unknown): string | undefined {
  const read = readTimestamp(value);
  return typeof read === "string" ? read : undefined;
}

function isObject(value: unknown): value is Fields {
  const isRecord = typeof value === "object" && value !== null;
  return isRecord && !Array.isArray(value) && !(value instanceof NumberText);
}

function isInteger(value: unknown): boolean {
  return value instanceof NumberText ? value.isInteger : Number.isInteger(value);
}

function isOneOf(words: readonly string[], word: string): boolean {
  return words.includes(word);
}
