/**
 * One row per agent, from all that is said of it: four axes, each with its evidence, and a headline
 * that answers the one question people have first. A pure function of reports and the moment, so
 * that the fleet of an hour ago is made by the very rules that made it then.
 */
import type { ReportedQuestion, Facts, Liveness, Report } from "../core/reports.ts";
import { reportingHost } from "../core/report-owners.ts";
import { sinceWhen } from "../machine/local-time.ts";
import {
  axesOf,
  nearestSource,
  type ActivityAxis,
  type Axes,
  type Axis,
  type OutcomeAxis,
  type Source,
} from "./axes.ts";
import type { RowJobs } from "./job-agents.ts";
import {
  holdsUntilMs,
  situationOf,
  SITUATIONS,
  type Headline,
  type HeadlineOptions,
  type Situation,
  type AgentCondition,
} from "./headline.ts";

export interface Row {
  readonly id: string;
  readonly name: string;
  readonly headline: Headline;
  /** Its work, question or trouble, in a few words. */
  readonly why: string;
  /** The rule that chose the headline. */
  readonly because: string;
  /** Since when what the headline says is so; null where nobody can say. */
  readonly sinceMs: number | null;
  /** The machine whose outpost tells of it; null for one that this daemon sees itself. */
  readonly host: string | null;
  readonly workspace: string | null;
  readonly goal: string | null;
  readonly liveness: Axis<Liveness>;
  readonly activity: ActivityAxis;
  readonly blockedOn: Axis<ReportedQuestion> | null;
  readonly outcome: OutcomeAxis | null;
  /** Since when nothing happened, if that is too long for what it says it does. */
  readonly stuckSinceMs: number | null;
  readonly lastActivityAtMs: number | null;
  /** The jobs it runs and ran; null where it is none that runs jobs. */
  readonly jobs: RowJobs | null;
  /** Its name on each wire. */
  readonly aliases: readonly string[];
  /** When something of it was last told. */
  readonly reportedAtMs: number;
}

/** All that is known of one agent. */
export interface RowFacts {
  readonly id: string;
  /** At least one. */
  readonly sources: readonly Source[];
  readonly jobs?: RowJobs | null;
}

/** A row, and the moment until which it stays so if nothing happens. */
export interface TimedRow {
  readonly row: Row;
  /** Infinity where time alone changes nothing. */
  readonly untilMs: number;
}

export function rowOf(facts: RowFacts, options: HeadlineOptions): Row {
  return timedRow(facts, options).row;
}

export function timedRow(
  { id, sources, jobs = null }: RowFacts,
  options: HeadlineOptions,
): TimedRow {
  const near = nearestSource(id, sources);
  const axes = axesOf(near);
  const lastActivityAtMs = latest(near.map(({ facts }) => facts.lastActivityAtMs));
  const standing = standingOf(axes, lastActivityAtMs);
  const situation = situationOf(standing, options);
  const { headline, because } = SITUATIONS[situation];
  const row: Row = {
    id,
    name: firstOf(near, ({ name }) => name) ?? id,
    headline,
    why: whyOf(situation, axes, options.nowMs),
    because,
    sinceMs: sinceOf(situation, axes, standing),
    host: firstHost(near),
    workspace: firstOf(near, ({ workspace }) => workspace) ?? null,
    goal: firstOf(near, ({ goal }) => goal) ?? null,
    liveness: axes.liveness,
    activity: axes.activity,
    blockedOn: axes.blockedOn,
    outcome: axes.outcome,
    stuckSinceMs: situation === "stuck" ? standing.activeAtMs : null,
    lastActivityAtMs,
    jobs,
    aliases: sources.map(({ alias }) => alias).sort(),
    reportedAtMs: latest(near.map(({ reportedAtMs }) => reportedAtMs)) ?? 0,
  };
  return { row, untilMs: holdsUntilMs(situation, standing, options) };
}

function standingOf(axes: Axes, lastActivityAtMs: number | null): AgentCondition {
  const { liveness, activity, blockedOn, outcome, teller } = axes;
  // One that tells when something happened is believed; of the others that it was told.
  const toldAtMs = teller.facts.lastActivityAtMs ?? teller.reportedAtMs;
  return {
    liveness: liveness.value,
    livenessAtMs: liveness.evidence.reportedAtMs,
    activity: activity.value,
    activeAtMs: Math.max(lastActivityAtMs ?? 0, toldAtMs),
    isAsking: blockedOn !== null,
    outcome: outcome?.value ?? null,
  };
}

function whyOf(situation: Situation, axes: Axes, nowMs: number): string {
  const { liveness, activity, outcome } = axes;
  const ended = outcome && (outcome.text ?? outcome.value);
  switch (situation) {
    case "asks":
      return questionIn(axes);
    case "died":
    case "ended":
      return liveness.evidence.rule;
    case "unreachable":
      return "does not answer";
    case "silentAtWork":
      return `${silenceOf(liveness, nowMs)} · ${doingOf(activity)}`;
    case "silentAsking":
      return `${silenceOf(liveness, nowMs)} · ${questionIn(axes)}`;
    case "silent":
      return silenceOf(liveness, nowMs);
    case "stuck":
      return `no progress · ${doingOf(activity)}`;
    case "works":
      return doingOf(activity);
    case "failed":
    case "rests":
      return ended ?? activity.message ?? activity.task ?? "";
  }
}

function questionIn({ blockedOn }: Axes): string {
  return blockedOn?.value.text || `asks for ${blockedOn?.value.kind}`;
}

/** "silent since 14:03", by the clock of the machine that says so. */
function silenceOf({ evidence }: Axes["liveness"], nowMs: number): string {
  return `silent since ${sinceWhen(evidence.reportedAtMs, nowMs)}`;
}

/** "reading · Step 2/5: Finding Rust files"; "working" says no more than the headline. */
function doingOf({ value, message, task }: ActivityAxis): string {
  const about = task ?? message;
  if (about === null) return value;
  return value === "working" ? about : `${value} · ${about}`;
}

/** Of silence it is the last word, of an end the moment when it was found out. */
function sinceOf(situation: Situation, axes: Axes, standing: AgentCondition): number | null {
  switch (situation) {
    case "asks":
      return axes.blockedOn?.value.sinceMs ?? null;
    case "died":
    case "ended":
    case "unreachable":
    case "silentAtWork":
    case "silentAsking":
    case "silent":
      return standing.livenessAtMs;
    case "stuck":
      return standing.activeAtMs;
    case "failed":
      return axes.outcome?.atMs ?? null;
    case "works":
    case "rests":
      return axes.teller.sinceMs ?? null;
  }
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

function firstHost(sources: readonly Report[]): string | null {
  for (const each of sources) {
    const host = reportingHost(each);
    if (host !== undefined) return host;
  }
  return null;
}

function latest(times: readonly (number | undefined)[]): number | null {
  let last: number | null = null;
  for (const each of times) if (each !== undefined && each > (last ?? -1)) last = each;
  return last;
}
