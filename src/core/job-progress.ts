/**
 * The progress of a job, made of its events. A job may send a hundred thousand of them a second, so
 * of each kind only the last is kept, as it came: that is soft, like a heartbeat. Words are made of
 * it when somebody looks, and now and then for the log: at a new phase, at every twentieth of the
 * way, at a question and its end, and once a minute.
 */
import { asLine } from "./fields.ts";
import { remainingOf, spentCurrency, type Purse } from "./jobs/budget.ts";
import { amountText } from "./jobs/decimal.ts";
import type { JobStreamEvent, ProgressBody, StatusBody } from "./jobs/events.ts";
import { PROGRESS } from "./jobs/limits.ts";
import type { Activity, ReportedQuestion, Facts, QuestionKind, Judgement } from "./reports.ts";

/** The last of each kind. */
export interface Pulse {
  doing: JobStreamEvent | undefined;
  progress: ProgressBody | undefined;
  /** A phase in which it waits for a person, until it goes on. */
  asks: { readonly body: StatusBody; readonly sinceMs: number } | undefined;
  /** When its budget was seen to be used up. */
  brokeSinceMs: number | undefined;
  lastAtMs: number;
}

export function newPulse(nowMs: number): Pulse {
  return {
    doing: undefined,
    progress: undefined,
    asks: undefined,
    brokeSinceMs: undefined,
    lastAtMs: nowMs,
  };
}

/** Takes one more event; whether a person should hear of it soon. */
export function feel(pulse: Pulse, event: JobStreamEvent, nowMs: number): boolean {
  pulse.lastAtMs = nowMs;
  const { kind } = event;
  // A metric, or a log line during a question, does not answer the question.
  if (kind === "metric" || (kind === "log" && pulse.asks)) return false;
  if (isStatus(event) && kindOfQuestion(event.body.phase) !== undefined) {
    pulse.asks = { body: event.body, sinceMs: nowMs };
    return true;
  }
  const didAsk = pulse.asks !== undefined;
  pulse.asks = undefined;
  if (isProgress(event)) pulse.progress = event.body;
  else if (!kind.startsWith("x-vendor.")) pulse.doing = event;
  return didAsk;
}

function isStatus(event: JobStreamEvent): event is JobStreamEvent & { readonly kind: "status" } {
  return event.kind === "status";
}

function isProgress(
  event: JobStreamEvent,
): event is JobStreamEvent & { readonly kind: "progress" } {
  return event.kind === "progress";
}

/** Phases are words of the agent's choice; these say that a person is wanted. */
const WAITS_FOR_A_PERSON =
  /^(?:awaiting|waiting_for|needs?|requires?|asks?_for)_(?<what>\w+)$|^(?<want>\w+)_required$/;
const KINDS: readonly (readonly [words: RegExp, kind: QuestionKind])[] = [
  [/^(?:permission|approval|confirmation|review|consent)$/, "permission"],
  [/^(?:auth|login|sign_?in|credentials?|authentication|authorization)$/, "auth"],
  [/^(?:choice|decision|selection|option)$/, "choice"],
  [/^(?:budget|funds|money)$/, "budget"],
  [/^(?:input|answer|reply|human|person|user|user_input|human_input|clarification|help)$/, "text"],
];

function kindOfQuestion(phase: string): QuestionKind | undefined {
  const { what, want } = WAITS_FOR_A_PERSON.exec(phase.toLowerCase())?.groups ?? {};
  return KINDS.find(([words]) => words.test(what ?? want ?? ""))?.[1];
}

type JobActivity = NonNullable<Facts["activity"]>;

/** As the log keeps it, for those who look at a past moment. */
export interface JobProgress {
  readonly activity: JobActivity;
  readonly question?: Judgement<ReportedQuestion>;
  readonly phase?: string;
  /** Of the way, 0 to 100, where the job says how long it is. */
  readonly percent?: number;
  readonly atMs: number;
}

export function progressOf(pulse: Pulse, purse: Purse): JobProgress {
  const question = jobQuestionOf(pulse, purse);
  const phase = phaseOf(pulse);
  const percent = percentOf(pulse);
  return {
    activity: activityOf(pulse, purse),
    ...(question && { question }),
    ...(phase !== undefined && { phase }),
    ...(percent !== undefined && { percent }),
    atMs: pulse.lastAtMs,
  };
}

/** The progress last logged; of a job without any, only when it started. */
export type LoggedProgress = Pick<JobProgress, "question" | "phase" | "percent" | "atMs">;

/** Whether the log should have it. */
export function isWorthLogging(pulse: Pulse, purse: Purse, logged: LoggedProgress): boolean {
  if (phaseOf(pulse) !== logged.phase || asksAnew(pulse, purse, logged)) return true;
  const step = Math.floor((percentOf(pulse) ?? 0) / PROGRESS.stepPercent);
  if (step !== Math.floor((logged.percent ?? 0) / PROGRESS.stepPercent)) return true;
  return pulse.lastAtMs - logged.atMs >= PROGRESS.everyMs;
}

type LoggedQuestion = Pick<JobProgress, "question">;

/** Whether it asks, or asks no longer, as the log does not have it yet. */
function asksAnew(pulse: Pulse, purse: Purse, { question }: LoggedQuestion): boolean {
  if (pulse.asks) return question?.rule.startsWith(ASKS) !== true;
  const spent = spentCurrency(purse);
  return question?.value.text !== (spent === undefined ? undefined : budgetQuestion(spent));
}

/** What is left of its budget changed; whether the log should have that soon. */
export function feelBudget(pulse: Pulse, { purse, logged, nowMs }: BudgetChange): boolean {
  if (spentCurrency(purse) === undefined) pulse.brokeSinceMs = undefined;
  else pulse.brokeSinceMs ??= nowMs;
  return asksAnew(pulse, purse, logged ?? {});
}

export interface BudgetChange {
  readonly purse: Purse;
  /** Its progress as last logged. */
  readonly logged: LoggedQuestion | undefined;
  readonly nowMs: number;
}

function phaseOf({ doing, asks }: Pulse): string | undefined {
  if (asks) return text(asks.body.phase);
  return doing && isStatus(doing) ? text(doing.body.phase) : undefined;
}

function percentOf({ progress }: Pulse): number | undefined {
  const { current = 0, total = 0 } = progress ?? {};
  if (!(total > 0)) return undefined;
  return Math.min(100, Math.max(0, Math.floor((100 * current) / total)));
}

const ASKS = "the job's phase: ";

function activityOf({ doing, progress }: Pulse, purse: Purse): JobActivity {
  const task = taskOf(progress, purse);
  const more = task === "" ? {} : { task };
  if (!doing) return { value: "working", rule: "the job runs", ...more };
  const { value, message } = deed(doing);
  const rule = asLine(`the job's last event: ${doing.kind}`, PROGRESS.textLength);
  return { value, rule, ...(message !== "" && { message: text(message) }), ...more };
}

/** `3/10 files, USD 1.90 left`. */
function taskOf(progress: ProgressBody | undefined, purse: Purse): string {
  const parts: string[] = [];
  if (progress) {
    const { current, total, units = "", message } = progress;
    const far = total === undefined ? `${current}` : `${current}/${total}`;
    parts.push(`${far} ${units}`.trim());
    if (message !== undefined) parts.push(message);
  }
  for (const [currency, left] of remainingOf(purse)) {
    parts.push(`${currency} ${amountText(left)} left`);
  }
  return text(parts.join(", "));
}

function deed(event: JobStreamEvent): { readonly value: Activity; readonly message: string } {
  switch (event.kind) {
    case "thought":
      return { value: "thinking", message: bodyOf(event, "text") };
    case "tool_call":
      return { value: toolActivity(bodyOf(event, "tool")), message: bodyOf(event, "tool") };
    case "status":
      return { value: "working", message: bodyOf(event, "message") || bodyOf(event, "phase") };
    case "log":
      return { value: "working", message: bodyOf(event, "message") };
    case "delegate":
      return { value: "waiting", message: `waits for ${bodyOf(event, "agent")}` };
    case "artifact_ref":
      return { value: "writing", message: bodyOf(event, "uri") };
    case "result_chunk":
      return { value: "writing", message: "its result" };
    default:
      return { value: "working", message: "" };
  }
}

function bodyOf({ body }: JobStreamEvent, field: string): string {
  const value = (body as Readonly<Record<string, unknown>>)[field];
  return typeof value === "string" ? value : "";
}

const READS = /(?:^|[._-])(?:read|get|list|ls|search|fetch|find|grep|glob|view|query|open|browse)/i;
const WRITES = /(?:^|[._-])(?:write|edit|create|update|delete|patch|put|save|append|move|commit)/i;

function toolActivity(tool: string): Activity {
  if (WRITES.test(tool)) return "writing";
  return READS.test(tool) ? "reading" : "working";
}

/** The job's question to a person: its own, or else one for money when it has none left. */
export function jobQuestionOf(pulse: Pulse, purse: Purse): Judgement<ReportedQuestion> | undefined {
  if (pulse.asks) {
    const { body, sinceMs } = pulse.asks;
    const { phase, message } = body;
    const kind = kindOfQuestion(phase) ?? "text";
    const options = optionsOf(body["options"]);
    const asked = text(message ?? phase.replaceAll("_", " "));
    const value = { kind, text: asked, sinceMs, ...(options.length > 0 && { options }) };
    return { value, rule: asLine(`${ASKS}${phase}`, PROGRESS.textLength) };
  }
  const spent = spentCurrency(purse);
  if (spent === undefined) return undefined;
  pulse.brokeSinceMs ??= pulse.lastAtMs;
  const sinceMs = pulse.brokeSinceMs;
  const value = { kind: "budget", text: budgetQuestion(spent), sinceMs } as const;
  return { value, rule: "its remaining budget" };
}

function budgetQuestion(currency: string): string {
  return `its budget in ${currency} is used up: cancel it, or let it end`;
}

const MAX_OPTIONS = 20;

function optionsOf(given: unknown): readonly string[] {
  if (!Array.isArray(given)) return [];
  return given
    .filter((each) => typeof each === "string")
    .slice(0, MAX_OPTIONS)
    .map(text);
}

function text(given: string): string {
  return asLine(given, PROGRESS.textLength);
}
