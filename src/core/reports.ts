/**
 * Reports on agents. A report is all that one source knows of one agent at one moment: a
 * status file, a hook, a proxy. The last one of each source is kept; the fleet makes rows of them.
 *
 *   report ──▶ current ──report──▶ current …     one older than what is known changes nothing
 *                 │  └──silent for its ttl──▶ stale ──report──▶ current
 *                 ├──says that it is over──▶ over ──a day──▶ forgotten
 *                 └──an operator dismisses it──▶ gone (dismissals.ts)
 *
 * Reports are recorded only when they say something new: that the same is still so is the source's
 * to know, and it reports when it no longer is. A source that may die without a word gives its
 * reports a ttl and repeats them; of those that say the same, one in half a ttl is recorded, and so
 * its agent is found silent up to half a ttl late, never early. That the agent did something is
 * news once a minute.
 */
import { newOwner, ownerOf, type By } from "./by.ts";
import { decided, refuse, type Decision, type Moment, type Refusal } from "./decide.ts";
import { withDismissal } from "./dismissals.ts";
import type { Event } from "./events.ts";
import { atMost, invalid, key, line, prose, ttl, type Problem } from "./fields.ts";
import { earliest, Heap, type Slot } from "./heap.ts";
import { IndexBy } from "./index-by.ts";
import { FLEET, RETENTION } from "./limits.ts";
import { endedWith, withProvenEnd } from "./process-ends.ts";
import { isGone, questionEvents } from "./questions.ts";
import { mayNotReport, reportingHost } from "./report-owners.ts";
import { isRepeated, notAhead, withSince } from "./report-news.ts";
import { answeredWith, withSeenAnswer } from "./seen-answers.ts";
import { beyondShare, Holdings, SHARED, wishOf } from "./shares.ts";
import type { State } from "./state.ts";

export const LIVENESS = [
  "starting",
  "alive",
  "unreachable",
  "stale",
  "dead",
  "exited",
  "unknown",
] as const;

/** "working" is busy in an unknown way; a source that knows more reports it. */
export const ACTIVITIES = [
  "thinking",
  "reading",
  "writing",
  "working",
  "waiting",
  "idle",
  "unknown",
] as const;

export const OUTCOMES = ["success", "failed", "rejected", "cancelled"] as const;

export const QUESTION_KINDS = ["permission", "choice", "text", "auth", "budget"] as const;

export type Liveness = (typeof LIVENESS)[number];
export type Activity = (typeof ACTIVITIES)[number];
export type ReportedOutcome = (typeof OUTCOMES)[number];
export type QuestionKind = (typeof QUESTION_KINDS)[number];

/** A value, and the rule of its source that made it: what `explain` shows. */
export interface Judgement<Value> {
  readonly value: Value;
  readonly rule: string;
}

export interface ReportedQuestion {
  readonly kind: QuestionKind;
  readonly text: string;
  readonly options?: readonly string[];
  readonly sinceMs: number;
}

/** The process behind an agent; when it began tells it from another that has its number. */
export interface ReportedProcess {
  readonly pid: number;
  readonly startedAtMs?: number;
  /** Its source looked, and it is no longer there. */
  readonly hasEnded?: boolean;
}

export interface Facts {
  readonly name?: string;
  readonly workspace?: string;
  readonly goal?: string;
  readonly process?: ReportedProcess;
  readonly liveness: Judgement<Liveness>;
  readonly activity?: Judgement<Activity> & { readonly message?: string; readonly task?: string };
  readonly question?: Judgement<ReportedQuestion>;
  readonly outcome?: Judgement<ReportedOutcome> & { readonly text?: string; readonly atMs: number };
  readonly lastActivityAtMs?: number;
}

export interface Report {
  /** WIRE:NAME, what the source calls it; sources of one machine say WIRE@HOST:NAME. */
  readonly alias: string;
  /** The principal that reported it; absent for `local`. */
  readonly owner?: string | undefined;
  /** Its owner, another than `local`, may speak for everybody. */
  readonly isOperators?: true | undefined;
  /** The agent to whose row it belongs. */
  readonly agentId: string;
  /** Aliases on other wires that the source says are the same agent. */
  readonly links: readonly string[];
  /** Grows with every report of the source. */
  readonly order: number;
  readonly reportedAtMs: number;
  /**
   * Since when the agent is at work, at rest, or waits for a person, without a break: as its source
   * knows, else as it was first told.
   */
  readonly sinceMs?: number;
  /** How long its source may be silent before the agent counts as stale; 0 or none: for ever. */
  readonly ttlMs?: number;
  readonly facts: Facts;
  /** The question that its source still asks, and an operator dismissed. */
  readonly dismissed?: ReportedQuestion;
}

export interface ReportEntry {
  report: Report;
  /** Rings when a report of what is over may be forgotten. */
  readonly timer: Slot<string>;
  /** Rings when its source was silent for too long. */
  readonly silence: Slot<string>;
}

export class Reports {
  readonly byAlias = new Map<string, ReportEntry>();
  readonly byAgent = new IndexBy();
  readonly holdings = new Holdings();
  /** Which reports say that an alias is their own agent's; the last one that said so last. */
  readonly linked = new IndexBy();
  /** Of outposts: the aliases of each host. */
  readonly ofHost = new IndexBy();
  readonly over = new Heap<string>();
  readonly silences = new Heap<string>();
}

export type ReportCommand =
  | { readonly type: "fleet.report"; readonly report: Report }
  /** Its source will never report on it again: the report goes at once. */
  | { readonly type: "fleet.forget"; readonly alias: string };

export interface ReportReplies {
  /** Whether it was taken; one that is late or says nothing new is not. */
  "fleet.report": { readonly isNew: boolean };
  /** Whether there was something to forget: only what is over is forgotten. */
  "fleet.forget": { readonly isForgotten: boolean };
}

export type ReportEvent =
  | { readonly type: "fleet.reported"; readonly report: Report }
  | { readonly type: "fleet.forgotten" | "fleet.dismissed"; readonly alias: string };

export function decideReport(
  state: State,
  command: ReportCommand,
  moment: Moment,
): Decision<Event, ReportReplies[keyof ReportReplies]> {
  switch (command.type) {
    case "fleet.report":
      return decideNews(state, command.report, moment);
    case "fleet.forget": {
      const refusal = invalid(key("alias", command.alias, FLEET.aliasLength));
      if (refusal) return refusal;
      const report = state.reports.byAlias.get(command.alias)?.report;
      if (!report || !isOver(report)) return decided([], { isForgotten: false });
      return decided([{ type: "fleet.forgotten", alias: report.alias }], { isForgotten: true });
    }
  }
}

export function decideNews(
  state: State,
  given: Report,
  moment: Moment,
): Decision<Event, ReportReplies["fleet.report"]> {
  const refusal = invalid(...problemsOf(given), aheadOf(moment.nowMs, given));
  const denied = refusal ?? mayNotReport(state, given, moment.by);
  if (denied) return denied;
  const { byAlias } = state.reports;
  const before = byAlias.get(given.alias)?.report;
  const timely = withDismissal(notAhead(ownedBy(given, moment.by), moment.nowMs), before);
  const told = withSince(timely, before);
  const report = withSeenAnswer(state, withProvenEnd(state, told));
  if (before && (isLate(report, before, moment.nowMs) || isRepeated(report, before))) {
    return decided([], { isNew: false });
  }
  const events: Event[] = [];
  const wish = wishOf(state.reports.holdings, ownerOf(report));
  const isOwn = before && ownerOf(before) === ownerOf(report);
  const crowded = before?.agentId === report.agentId ? undefined : crowdedAgent(state, report);
  const full = crowded ?? (isOwn ? undefined : beyondShare(SHARED.reports, wish));
  if (full) {
    const oldest = crowded
      ? oldestOverOf(state, report)
      : oldestOver(state.reports, ownerOf(report));
    if (oldest === undefined) return full;
    events.push({ type: "fleet.forgotten", alias: oldest });
  }
  const others = [...endedWith(state, report), ...answeredWith(state, report, moment.nowMs)];
  for (const each of [report, ...others]) {
    events.push({ type: "fleet.reported", report: each });
    events.push(...questionEvents(state, each, moment));
  }
  return decided(events, { isNew: true });
}

/** An operator that speaks for another's alias takes it over: its words are not for the other. */
function ownedBy(given: Report, by: By): Report {
  const owner = newOwner(by);
  const { isOperators: _, ...report } = given;
  return { ...report, owner, ...(owner !== undefined && by.isOperator && { isOperators: true }) };
}

/** Of the reports that are over, the one that goes for a new one of the same owner. */
function oldestOver({ over, byAlias }: Reports, owner: string): string | undefined {
  const alias = over.first();
  const oldest = alias === undefined ? undefined : byAlias.get(alias)?.report;
  return oldest && ownerOf(oldest) === owner ? alias : undefined;
}

/** Each source of an agent costs whoever looks at it, and each report on it. */
function crowdedAgent({ reports }: State, { agentId }: Report): Refusal | undefined {
  const { size } = reports.byAgent.of(agentId);
  if (size < FLEET.sources) return undefined;
  return refuse("LIMIT_EXCEEDED", `agent ${agentId} already has ${size} sources`);
}

/** The same among the sources of one agent. */
function oldestOverOf({ reports }: State, report: Report): string | undefined {
  let oldest: Report | undefined;
  for (const alias of reports.byAgent.of(report.agentId)) {
    const other = reports.byAlias.get(alias)?.report;
    if (!other || !isOver(other) || ownerOf(other) !== ownerOf(report)) continue;
    if (!oldest || other.reportedAtMs < oldest.reportedAtMs) oldest = other;
  }
  return oldest?.alias;
}

/** A report that lies ahead would be the newest for ever. */
function aheadOf(nowMs: number, { order }: Report): Problem {
  const aheadMs = order - nowMs;
  if (aheadMs <= FLEET.skewMs) return undefined;
  return `order is ${order}, ${aheadMs} ms ahead of now: at most ${FLEET.skewMs} ms are allowed`;
}

/** Logs of before that rule may hold one that lies ahead; it counts as one of now. */
function isLate(report: Report, before: Report, nowMs: number): boolean {
  return report.order < Math.min(before.order, nowMs);
}

export function evolveReport(state: State, event: ReportEvent): void {
  const { reports } = state;
  switch (event.type) {
    case "fleet.reported":
      remove(reports, event.report.alias);
      restoreReport(state, event.report);
      return;
    case "fleet.forgotten":
    case "fleet.dismissed":
      remove(reports, event.alias);
      return;
  }
}

export function restoreReport({ reports }: State, report: Report): void {
  const { alias, agentId, links } = report;
  const timer = reports.over.add(report.reportedAtMs + RETENTION.overReportMs, alias);
  if (!isOver(report)) reports.over.remove(timer);
  const silence = reports.silences.add(silentAtMs(report), alias);
  if (!mayFallSilent(report)) reports.silences.remove(silence);
  reports.byAlias.set(alias, { report, timer, silence });
  reports.byAgent.add(agentId, alias);
  reports.holdings.add(ownerOf(report));
  const host = reportingHost(report);
  if (host !== undefined) reports.ofHost.add(host, alias);
  for (const link of links) reports.linked.add(link, alias);
}

function remove(reports: Reports, alias: string): void {
  const entry = reports.byAlias.get(alias);
  if (!entry) return;
  reports.over.remove(entry.timer);
  reports.silences.remove(entry.silence);
  reports.byAlias.delete(alias);
  reports.byAgent.delete(entry.report.agentId, alias);
  reports.holdings.remove(ownerOf(entry.report));
  const host = reportingHost(entry.report);
  if (host !== undefined) reports.ofHost.delete(host, alias);
  for (const link of entry.report.links) reports.linked.delete(link, alias);
}

function isOver({ facts }: Report): boolean {
  return isGone(facts.liveness.value);
}

export function mayFallSilent({ ttlMs = 0, facts }: Report): boolean {
  const { value } = facts.liveness;
  return ttlMs > 0 && value !== "stale" && !isGone(value);
}

/** A repeat that came within half a ttl was not recorded. */
export function silentAtMs({ reportedAtMs, ttlMs = 0 }: Report, graceFromMs = 0): number {
  return Math.max(reportedAtMs + ttlMs * 1.5, graceFromMs + ttlMs);
}

export function dueReport(reports: Reports): number | undefined {
  return earliest(reports.over.nextAt(), reports.silences.nextAt());
}

export function expireReport(state: State, nowMs: number): readonly Event[] {
  const { over, silences, byAlias } = state.reports;
  const old = over.takeDue(nowMs);
  if (old) return [{ type: "fleet.forgotten", alias: old.value }];
  const entry = byAlias.get(silences.takeDue(nowMs)?.value ?? "");
  if (!entry) return [];
  const { report } = entry;
  const atMs = silentAtMs(report, state.graceFromMs);
  if (atMs > nowMs) {
    silences.move(entry.silence, atMs);
    return [];
  }
  const liveness = { value: "stale", rule: "its reporter fell silent" } as const;
  return [{ type: "fleet.reported", report: { ...report, facts: { ...report.facts, liveness } } }];
}

function problemsOf({
  alias,
  agentId,
  links,
  order,
  reportedAtMs,
  sinceMs,
  ttlMs,
  facts,
}: Report): Problem[] {
  const { name = "", workspace = "", goal = "", process, activity, question, outcome } = facts;
  return [
    key("alias", alias, FLEET.aliasLength),
    alias.includes(":") ? undefined : "alias is not WIRE:NAME",
    key("agentId", agentId, FLEET.aliasLength),
    atMost("links", links.length, FLEET.links),
    ...links.map((link) => key("links", link, FLEET.aliasLength)),
    time("order", order),
    time("reportedAtMs", reportedAtMs),
    ttlMs === undefined ? undefined : ttl("ttlMs", ttlMs),
    line("name", name, FLEET.nameLength),
    line("workspace", workspace, FLEET.workspaceLength),
    prose("goal", goal, FLEET.textLength),
    time("pid", process?.pid),
    time("startedAtMs", process?.startedAtMs),
    time("lastActivityAtMs", facts.lastActivityAtMs),
    time("sinceMs", sinceMs),
    oneOf("liveness", facts.liveness.value, LIVENESS),
    oneOf("activity", activity?.value ?? "unknown", ACTIVITIES),
    oneOf("outcome", outcome?.value ?? "success", OUTCOMES),
    ...[facts.liveness, activity, question, outcome].map((each) =>
      line("rule", each?.rule ?? "", FLEET.nameLength),
    ),
    prose("message", activity?.message ?? "", FLEET.textLength),
    prose("task", activity?.task ?? "", FLEET.textLength),
    prose("outcome.text", outcome?.text ?? "", FLEET.textLength),
    time("outcome.atMs", outcome?.atMs),
    ...problemsOfQuestion(question?.value),
  ];
}

function problemsOfQuestion(question: ReportedQuestion | undefined): Problem[] {
  if (!question) return [];
  const { kind, text, options = [], sinceMs } = question;
  return [
    oneOf("question.kind", kind, QUESTION_KINDS),
    prose("question.text", text, FLEET.questionLength),
    atMost("question.options", options.length, FLEET.options),
    ...options.map((option) => line("question.options", option, FLEET.nameLength)),
    time("question.sinceMs", sinceMs),
  ];
}

function time(field: string, value: number | undefined): Problem {
  if (value === undefined || (Number.isSafeInteger(value) && value >= 0)) return undefined;
  return `${field} is not a whole number from 0 up`;
}

function oneOf(field: string, value: string, allowed: readonly string[]): Problem {
  return allowed.includes(value) ? undefined : `${field} is none of ${allowed.join(", ")}`;
}
