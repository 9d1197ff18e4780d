/**
 * One row per agent, from all that is said of it: four axes, each with its evidence, and a headline
 * that answers the one question people have first. A pure function of reports and the moment, so
 * that the fleet of an hour ago is made by the very rules that made it then.
 *
 * Sources are not equal. Who sees an agent's every step (its editor's proxy, its hooks) knows what
 * it does; who only hears its heartbeats knows that it lives. So what it does is told by the
 * closest source that is up to date, and that it lives by any.
 */
import { isGone } from "../core/questions.ts";
import type { Activity, Asked, Facts, Liveness, Outcome, Report, Ruled } from "../core/reports.ts";
import { headlineOf, type Headline } from "./headline.ts";
import { stuckSince, type Patience } from "./stuck.ts";

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

export interface Row {
  readonly id: string;
  readonly name: string;
  readonly headline: Headline;
  /** What it does, asks or suffers from, in a few words. */
  readonly why: string;
  /** The rule that chose the headline. */
  readonly because: string;
  readonly workspace: string | null;
  readonly goal: string | null;
  readonly liveness: Axis<Liveness>;
  readonly activity: Axis<Activity> & {
    readonly message: string | null;
    readonly task: string | null;
  };
  readonly blockedOn: Axis<Asked> | null;
  readonly outcome:
    | (Axis<Outcome> & { readonly text: string | null; readonly atMs: number })
    | null;
  /** Since when nothing happened, if that is too long for what it says it does. */
  readonly stuckSinceMs: number | null;
  readonly lastActivityAtMs: number | null;
  /** What it is called on each wire. */
  readonly aliases: readonly string[];
  /** When something of it was last told. */
  readonly reportedAtMs: number;
}

export interface RowOptions {
  readonly nowMs: number;
  readonly patience: Patience;
}

/** The closest to the agent first. */
const WIRES = ["acp", "file", "mcp", "arcp", "a2a", "keeper"];

/** `file` of file@host:NAME. */
function wireOf(alias: string): string {
  return /^[^:@]*/.exec(alias)?.[0] ?? "";
}

/** `sources` has at least one. */
export function rowOf(id: string, sources: readonly Report[], options: RowOptions): Row {
  const near = nearest(sources);
  const liveness = livenessOf(near);
  const current = near.filter(({ facts }) => isCurrent(facts.liveness.value));
  const told = current.length > 0 ? current : near;
  const seen = {
    id,
    name: firstOf(near, ({ name }) => name) ?? id,
    workspace: firstOf(near, ({ workspace }) => workspace) ?? null,
    goal: firstOf(near, ({ goal }) => goal) ?? null,
    liveness,
    ...activityOf(told),
    blockedOn: isGone(liveness.value) ? null : questionOf(told),
    outcome: outcomeOf(near),
    lastActivityAtMs: latest(near.map(({ facts }) => facts.lastActivityAtMs)),
    aliases: sources.map(({ alias }) => alias).sort(),
    reportedAtMs: latest(near.map(({ reportedAtMs }) => reportedAtMs)) ?? 0,
  };
  const stuckSinceMs = stuckSince(seen, options);
  const judged = headlineOf(seen, stuckSinceMs, options.nowMs);
  // Field by field: there are ten thousand of them, and copies of objects take longer.
  return {
    id,
    name: seen.name,
    headline: judged.headline,
    why: judged.why,
    because: judged.because,
    workspace: seen.workspace,
    goal: seen.goal,
    liveness,
    activity: seen.activity,
    blockedOn: seen.blockedOn,
    outcome: seen.outcome,
    stuckSinceMs,
    lastActivityAtMs: seen.lastActivityAtMs,
    aliases: seen.aliases,
    reportedAtMs: seen.reportedAtMs,
  };
}

/** The closest to the agent first, then who spoke last. */
function nearest(sources: readonly Report[]): readonly Report[] {
  if (sources.length === 1) return sources;
  return sources.toSorted(
    (a, b) => rankOf(a.alias) - rankOf(b.alias) || b.reportedAtMs - a.reportedAtMs,
  );
}

function rankOf(alias: string): number {
  const rank = WIRES.indexOf(wireOf(alias));
  return rank === -1 ? WIRES.length : rank;
}

/** Whether what it says of the agent may still be so. */
function isCurrent(liveness: Liveness): boolean {
  return liveness === "alive" || liveness === "starting" || liveness === "unreachable";
}

/** Any sign of life beats silence; among those who saw no life the last word counts. */
function livenessOf(sources: readonly Report[]): Axis<Liveness> {
  for (const value of ["alive", "starting", "unreachable"] as const) {
    const found = sources.find(({ facts }) => facts.liveness.value === value);
    if (found) return axis(found, found.facts.liveness);
  }
  const known = sources.filter(({ facts }) => facts.liveness.value !== "unknown");
  const [last] = (known.length > 0 ? known : sources).toSorted(
    (a, b) => b.reportedAtMs - a.reportedAtMs,
  );
  if (!last) throw new Error("a row without a source");
  return axis(last, last.facts.liveness);
}

function activityOf(sources: readonly Report[]): Pick<Row, "activity"> & { saidAtMs: number } {
  const knows = sources.find(({ facts }) => (facts.activity?.value ?? "unknown") !== "unknown");
  const source = knows ?? sources[0];
  if (!source) throw new Error("a row without a source");
  const activity = source.facts.activity ?? { value: "unknown", rule: "nobody said" };
  const { value, evidence } = axis<Activity>(source, activity);
  const message = ("message" in activity && activity.message) || null;
  const task = ("task" in activity && activity.task) || null;
  // Who must repeat itself to count as alive says by itself when something happened.
  const { ttlMs, reportedAtMs, facts } = source;
  const saidAtMs = ttlMs ? (facts.lastActivityAtMs ?? reportedAtMs) : reportedAtMs;
  return { activity: { value, evidence, message, task }, saidAtMs };
}

/** Two sources that saw the same question are this far apart at most: some know whole seconds. */
const SAME_QUESTION_MS = 2_000;

/** The one that has waited longest; of one question, what the source closest to it says. */
function questionOf(sources: readonly Report[]): Axis<Asked> | null {
  let first: Axis<Asked> | null = null;
  for (const source of sources) {
    const { question } = source.facts;
    if (!question) continue;
    if (first && first.value.sinceMs <= question.value.sinceMs + SAME_QUESTION_MS) continue;
    first = axis(source, question);
  }
  return first;
}

function outcomeOf(sources: readonly Report[]): Row["outcome"] {
  let last: Row["outcome"] = null;
  for (const source of sources) {
    const { outcome } = source.facts;
    if (!outcome || (last && last.atMs >= outcome.atMs)) continue;
    const { text = null, atMs } = outcome;
    const { value, evidence } = axis<Outcome>(source, outcome);
    last = { value, evidence, text, atMs };
  }
  return last;
}

function firstOf(
  sources: readonly Report[],
  select: (facts: Facts) => string | undefined,
): string | undefined {
  for (const { facts } of sources) {
    const value = select(facts);
    if (value !== undefined && value !== "") return value;
  }
  return undefined;
}

function latest(times: readonly (number | undefined)[]): number | null {
  let last: number | null = null;
  for (const each of times) if (each !== undefined && each > (last ?? -1)) last = each;
  return last;
}

function axis<Value>(source: Report, { value, rule }: Ruled<Value>): Axis<Value> {
  const { alias, reportedAtMs, order } = source;
  return { value, evidence: { wire: wireOf(alias), alias, rule, reportedAtMs, order } };
}
