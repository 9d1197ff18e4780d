/**
 * What a job is doing, made of what it says. A job may say a hundred thousand things a second, so
 * of each kind only the last is kept, as it came; words are made of it when somebody looks.
 */
import { asLine } from "../core/fields.ts";
import { amountText } from "../core/jobs/decimal.ts";
import type { JobEvent, ProgressBody, StatusBody } from "../core/jobs/events.ts";
import type { Outcome } from "../core/jobs/outcome.ts";
import type { Activity, Asked, Facts, QuestionKind, Ruled } from "../core/reports.ts";
import type { Job } from "./job.ts";
import { ROWS } from "./limits.ts";

/** The last of each kind. */
export interface Pulse {
  doing: JobEvent | undefined;
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
export function feel(pulse: Pulse, event: JobEvent, nowMs: number): boolean {
  pulse.lastAtMs = nowMs;
  const { kind } = event;
  // What is only told on the side says nothing about the question it waits with.
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

function isStatus(event: JobEvent): event is JobEvent & { readonly kind: "status" } {
  return event.kind === "status";
}

function isProgress(event: JobEvent): event is JobEvent & { readonly kind: "progress" } {
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

type Doing = NonNullable<Facts["activity"]>;

export function activityOf(job: Job, { doing, progress }: Pulse): Doing {
  const task = taskOf(job, progress);
  const more = task === "" ? {} : { task };
  if (job.status === "pending") {
    return { value: "waiting", rule: "it has not started", message: "waits for its turn" };
  }
  if (!doing) return { value: "working", rule: "the job runs", ...more };
  const { value, message } = deed(doing);
  const rule = asLine(`the job's last event: ${doing.kind}`, ROWS.textLength);
  return { value, rule, ...(message !== "" && { message: text(message) }), ...more };
}

/** `3/10 files, USD 1.90 left`. */
function taskOf(job: Job, progress: ProgressBody | undefined): string {
  const parts: string[] = [];
  if (progress) {
    const { current, total, units = "", message } = progress;
    const far = total === undefined ? `${current}` : `${current}/${total}`;
    parts.push(`${far} ${units}`.trim());
    if (message !== undefined) parts.push(message);
  }
  for (const [currency, left] of job.grant.remaining) {
    parts.push(`${currency} ${amountText(left)} left`);
  }
  return text(parts.join(", "));
}

function deed(event: JobEvent): { readonly value: Activity; readonly message: string } {
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

function bodyOf({ body }: JobEvent, field: string): string {
  const value = (body as Readonly<Record<string, unknown>>)[field];
  return typeof value === "string" ? value : "";
}

const READS = /(?:^|[._-])(?:read|get|list|ls|search|fetch|find|grep|glob|view|query|open|browse)/i;
const WRITES = /(?:^|[._-])(?:write|edit|create|update|delete|patch|put|save|append|move|commit)/i;

function toolActivity(tool: string): Activity {
  if (WRITES.test(tool)) return "writing";
  return READS.test(tool) ? "reading" : "working";
}

/** What the job wants of a person: what it asks for, or else money when it has none left. */
export function questionOf(job: Job, pulse: Pulse): Ruled<Asked> | undefined {
  if (pulse.asks) {
    const { body, sinceMs } = pulse.asks;
    const { phase, message } = body;
    const kind = kindOfQuestion(phase) ?? "text";
    const options = optionsOf(body["options"]);
    const asked = text(message ?? phase.replaceAll("_", " "));
    const value = { kind, text: asked, sinceMs, ...(options.length > 0 && { options }) };
    return { value, rule: asLine(`the job's phase: ${phase}`, ROWS.textLength) };
  }
  const spent = [...job.grant.remaining].find(([, left]) => left <= 0n)?.[0];
  if (spent === undefined || !(job.grant.lease.budget?.get(spent) ?? 0n)) return undefined;
  pulse.brokeSinceMs ??= pulse.lastAtMs;
  const asked = `its budget in ${spent} is used up: cancel it, or let it end`;
  const value = { kind: "budget", text: asked, sinceMs: pulse.brokeSinceMs } as const;
  return { value, rule: "what is left of its budget" };
}

const MAX_OPTIONS = 20;

function optionsOf(given: unknown): readonly string[] {
  if (!Array.isArray(given)) return [];
  return given
    .filter((each) => typeof each === "string")
    .slice(0, MAX_OPTIONS)
    .map(text);
}

export function outcomeOf(outcome: Outcome, atMs: number): NonNullable<Facts["outcome"]> {
  const rule = `the job ended: ${outcome.status}`;
  switch (outcome.status) {
    case "success":
      return { value: "success", rule, atMs, ...withText(outcome.summary) };
    case "cancelled":
      return { value: "cancelled", rule, atMs, ...withText(outcome.reason) };
    case "timed_out":
      return { value: "failed", rule, atMs, ...withText(outcome.message) };
    case "error":
      return { value: "failed", rule, atMs, ...withText(outcome.message) };
  }
}

function withText(given: string | undefined): { readonly text?: string } {
  return given === undefined || given === "" ? {} : { text: text(given) };
}

function text(given: string): string {
  return asLine(given, ROWS.textLength);
}
