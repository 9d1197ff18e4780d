/**
 * One value for an agent on each axis, chosen from all that its sources report.
 *
 * Sources are not equal. One that sees an agent's every step (its editor's proxy, its hooks) knows
 * what it does; one that only hears its heartbeats knows that it lives. So what it does is told by
 * the closest source that is up to date, and that it lives by any.
 */
import { ownerOf } from "../core/by.ts";
import { isGone } from "../core/questions.ts";
import { isTrusted } from "../core/report-owners.ts";
import type {
  Activity,
  ReportedQuestion,
  Liveness,
  ReportedOutcome,
  Report,
  Judgement,
} from "../core/reports.ts";
import { SAME_QUESTION_MS } from "../core/seen-answers.ts";
import { rankOf, sourcesOf, wireOf } from "../core/wires.ts";

/** A source, and all it says of an agent. */
export interface Source extends Report {
  /** Of an agent of the registry or the directory: when it came. */
  readonly registeredAtMs?: number;
}

/** Why a value is believed. */
export interface Evidence {
  readonly wire: string;
  readonly alias: string;
  readonly rule: string;
  readonly reportedAtMs: number;
  readonly order: number;
}

export interface Axis<Value> {
  readonly value: Value;
  readonly evidence: Evidence;
}

export interface ActivityAxis extends Axis<Activity> {
  readonly message: string | null;
  readonly task: string | null;
}

export interface OutcomeAxis extends Axis<ReportedOutcome> {
  readonly text: string | null;
  readonly atMs: number;
}

export interface Axes {
  readonly liveness: Axis<Liveness>;
  readonly activity: ActivityAxis;
  readonly blockedOn: Axis<ReportedQuestion> | null;
  readonly outcome: OutcomeAxis | null;
  /** The source that counts for its activity. */
  readonly teller: Report;
}

/** `sources`, of which there is at least one, are the closest first. */
export function axesOf(sources: readonly Report[]): Axes {
  const liveness = livenessOf(sources);
  const current = sources.filter(({ facts }) => isCurrent(facts.liveness.value));
  const told = current.length > 0 ? current : sources;
  const teller = told.find(({ facts }) => isKnown(facts.activity)) ?? told[0];
  if (!teller) throw new Error("a row without a source");
  return {
    liveness,
    activity: activityOf(teller),
    blockedOn: isGone(liveness.value) ? null : questionOf(told),
    outcome: outcomeOf(sources),
    teller,
  };
}

/**
 * The sources that count in a row: the closest to the agent first, then the one that spoke last;
 * heartbeats change no place. Somebody who named an agent's id before the agent was there is not
 * believed, nor is an agent that names the row of another owner's.
 */
export function nearestSource(rowId: string, sources: readonly Source[]): readonly Source[] {
  if (sources.length === 1) return sources;
  const near = sources.toSorted(
    (a, b) =>
      Number(isTrusted(b)) - Number(isTrusted(a)) ||
      rankOf(a.alias) - rankOf(b.alias) ||
      b.order - a.order ||
      (a.alias < b.alias ? -1 : 1),
  );
  const owners = new Set(holdersOf(rowId, near).map(ownerOf));
  const linked = new Set(near.flatMap((each) => (isTrusted(each) ? each.links : [])));
  return near.filter(
    (each) => isTrusted(each) || owners.has(ownerOf(each)) || linked.has(each.alias),
  );
}

/** The sources whose owners hold the row. */
function holdersOf(rowId: string, near: readonly Source[]): readonly Source[] {
  const ids = [`keeper:${rowId}`, `a2a:${rowId}`];
  const own = near.find(({ alias }) => ids.includes(alias)) ?? near.find(isOfDaemon);
  if (own) return [own];
  const reporters = near.filter(({ registeredAtMs }) => registeredAtMs === undefined);
  return reporters.length > 0 ? reporters : near.toSorted(byRegistration).slice(0, 1);
}

function byRegistration(a: Source, b: Source): number {
  const [first = 0, second = 0] = [a.registeredAtMs, b.registeredAtMs];
  return first - second || (a.alias < b.alias ? -1 : 1);
}

/** Told by a wire that the daemon speaks itself, for its own user. */
function isOfDaemon({ alias, owner }: Report): boolean {
  return owner === undefined && sourcesOf(alias) !== undefined;
}

/** Whether what it says of the agent may still be so. */
function isCurrent(liveness: Liveness): boolean {
  return liveness === "alive" || liveness === "starting" || liveness === "unreachable";
}

function isKnown(activity: Judgement<Activity> | undefined): boolean {
  return activity !== undefined && activity.value !== "unknown";
}

/** Any sign of life beats silence; among those that saw no life the last word counts. */
function livenessOf(sources: readonly Report[]): Axis<Liveness> {
  for (const value of ["alive", "starting", "unreachable"] as const) {
    const found = sources.find(({ facts }) => facts.liveness.value === value);
    if (found) return axis(found, found.facts.liveness);
  }
  const known = sources.filter(({ facts }) => facts.liveness.value !== "unknown");
  const [last] = (known.length > 0 ? known : sources).toSorted((a, b) => b.order - a.order);
  if (!last) throw new Error("a row without a source");
  return axis(last, last.facts.liveness);
}

function activityOf(teller: Report): ActivityAxis {
  const { activity } = teller.facts;
  const { value, evidence } = axis<Activity>(
    teller,
    activity ?? { value: "unknown", rule: "no source told it" },
  );
  return { value, evidence, message: activity?.message || null, task: activity?.task || null };
}

/** The one that has waited longest; of one question, what the source closest to it says. */
function questionOf(sources: readonly Report[]): Axis<ReportedQuestion> | null {
  let first: Axis<ReportedQuestion> | null = null;
  for (const source of sources) {
    const { question } = source.facts;
    if (!question) continue;
    if (first && first.value.sinceMs <= question.value.sinceMs + SAME_QUESTION_MS) continue;
    first = axis(source, question);
  }
  return first;
}

function outcomeOf(sources: readonly Report[]): OutcomeAxis | null {
  let last: OutcomeAxis | null = null;
  for (const source of sources) {
    const { outcome } = source.facts;
    if (!outcome || (last && last.atMs >= outcome.atMs)) continue;
    const { text = null, atMs } = outcome;
    const { value, evidence } = axis<ReportedOutcome>(source, outcome);
    last = { value, evidence, text, atMs };
  }
  return last;
}

function axis<Value>(source: Report, { value, rule }: Judgement<Value>): Axis<Value> {
  const { alias, reportedAtMs, order } = source;
  return { value, evidence: { wire: wireOf(alias), alias, rule, reportedAtMs, order } };
}
