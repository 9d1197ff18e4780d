/**
 * Outposts: the daemons of other machines, which report to this one what they see on theirs.
 *
 *            join                 leave, or nothing heard for too long
 *   unknown ──────▶ here ──────────────────────────────────────▶ silent ──▶ forgotten
 *                    ▲                                              │  (a month later)
 *                    └──────────────────── join ────────────────────┘
 *
 * Exactly once, and in order. The spool of an outpost is its own log. A cursor, which only the
 * outpost can read, names a place there. A `take` says from which cursor to which it goes, and is
 * refused unless it goes on from the one that is known here; the reports and the new cursor are one
 * batch. So whatever is cut or killed, on either side, the next join tells the outpost where to go
 * on, and nothing is taken twice or left out.
 *
 * A host that is silent proves no end of its agents: its reports stay, and the fleet shows them as
 * silent (fleet/silent-hosts.ts). That an outpost was heard is soft, like a heartbeat.
 */
import type { By } from "./by.ts";
import { decided, refuse, type Decision, type Moment, type Refusal } from "./decide.ts";
import { dismissReport } from "./dismissals.ts";
import type { Event } from "./events.ts";
import { atMost, invalid, key, line, type Problem } from "./fields.ts";
import { Heap, type Slot } from "./heap.ts";
import { jobsOver, takeJobs, type SentJob } from "./host-jobs.ts";
import { OUTPOST } from "./limits.ts";
import { takeReports, type Refused } from "./outpost-reports.ts";
import type { Report } from "./reports.ts";
import type { State } from "./state.ts";

/** How much leaves the outpost's machine; each includes the one before. */
export const SHARES = ["status", "questions", "all"] as const;
export type Share = (typeof SHARES)[number];

/** How much the outpost takes from the team; each includes the one before. */
export const ACCEPTS = ["nothing", "answers", "jobs"] as const;
export type Accept = (typeof ACCEPTS)[number];

/** The outpost's description of itself. */
export interface OutpostFacts {
  /** One for each folder of state: only one daemon at a time can have it open. */
  readonly instance: string;
  /** The machine's own name, for people. */
  readonly machine: string;
  readonly version: string;
  readonly share: Share;
  readonly accept: Accept;
}

export interface Outpost extends OutpostFacts {
  readonly host: string;
  /** Of its last join: calls of an older one are refused. */
  readonly session: string;
  /** The place in its log up to which its reports were taken; empty before the first. */
  readonly cursor: string;
  /** Added to its times, where its clock is wrong, to make them ours. */
  readonly shiftMs: number;
  readonly joinedAtMs: number;
  /** 0 while it is here; else when it was last heard. */
  readonly silentSinceMs: number;
}

export interface OutpostEntry {
  outpost: Outpost;
  /** Soft: moved by everything that it sends, not recorded. */
  seenAtMs: number;
  /** Rings when it has been silent for too long, and when it may be forgotten. */
  readonly timer: Slot<string>;
}

export class Outposts {
  readonly byHost = new Map<string, OutpostEntry>();
  readonly deadlines = new Heap<string>();
}

export type OutpostCommand =
  | {
      readonly type: "outpost.join";
      readonly host: string;
      readonly facts: OutpostFacts;
      /** The time on the outpost's clock. */
      readonly clockMs: number;
    }
  /** Soft: nothing is recorded, it is only heard. */
  | { readonly type: "outpost.beat"; readonly host: string; readonly session: string }
  | {
      readonly type: "outpost.take";
      readonly host: string;
      readonly session: string;
      readonly from: string;
      readonly to: string;
      /** Of different agents: one may change what the next one of its agent means. */
      readonly reports: readonly Report[];
      /** Aliases that the outpost no longer knows. */
      readonly gone: readonly string[];
      /** How its jobs are, and the ids of those that it no longer knows. */
      readonly jobs: readonly SentJob[];
      readonly jobsGone: readonly string[];
    }
  | { readonly type: "outpost.leave"; readonly host: string; readonly session: string };

export interface OutpostReplies {
  "outpost.join": Outpost;
  "outpost.beat": null;
  /** How many reports said anything new, and those that were refused. */
  "outpost.take": { readonly news: number; readonly refused: readonly Refused[] };
  "outpost.leave": null;
}

export type OutpostEvent =
  | { readonly type: "outpost.joined"; readonly outpost: Outpost }
  | { readonly type: "outpost.took"; readonly host: string; readonly cursor: string }
  | {
      readonly type: "outpost.silent";
      readonly host: string;
      readonly sinceMs: number;
      readonly cause: "left" | "unheard";
    }
  | { readonly type: "outpost.forgotten"; readonly host: string };

type Join = Extract<OutpostCommand, { type: "outpost.join" }>;
type TakeCommand = Extract<OutpostCommand, { type: "outpost.take" }>;

export function decideOutpost(
  state: State,
  command: OutpostCommand,
  moment: Moment,
): Decision<Event, OutpostReplies[keyof OutpostReplies]> {
  if (command.type === "outpost.join") return join(state, command, moment);
  const entry = current(state.outposts, command);
  if ("ok" in entry) return entry;
  switch (command.type) {
    case "outpost.beat":
      return decided([], null);
    case "outpost.take":
      return take(state, command, { outpost: entry.outpost, moment });
    case "outpost.leave": {
      const { host } = command;
      return decided(
        [{ type: "outpost.silent", host, sinceMs: moment.nowMs, cause: "left" }],
        null,
      );
    }
  }
}

/** The outpost of a session; refused where another session, or silence, has ended that one. */
function current(
  { byHost }: Outposts,
  { host, session }: { readonly host: string; readonly session: string },
): OutpostEntry | Refusal {
  const entry = byHost.get(host);
  const isCurrent = entry?.outpost.session === session && entry.outpost.silentSinceMs === 0;
  if (isCurrent) return entry;
  return refuse("WRONG_STATE", `this session of ${host} is over: join again`);
}

function join(state: State, command: Join, moment: Moment): Decision<Event, Outpost> {
  const { host, facts, clockMs } = command;
  const refusal = invalid(key("host", host), ...problemsOf(facts), clockProblem(clockMs));
  if (refusal) return refusal;
  const { outposts, graceFromMs } = state;
  const entry = outposts.byHost.get(host);
  const taken = entry && spokenFor(entry, { facts, nowMs: moment.nowMs, graceFromMs });
  if (taken) return taken;
  if (!entry && outposts.byHost.size >= OUTPOST.outposts) {
    return refuse("LIMIT_EXCEEDED", `there are ${OUTPOST.outposts} outposts: that is the limit`);
  }
  const before = entry?.outpost;
  const outpost: Outpost = {
    ...facts,
    host,
    session: moment.newId(),
    cursor: before?.cursor ?? "",
    shiftMs: shiftOf(moment.nowMs - clockMs, before?.shiftMs ?? 0),
    joinedAtMs: moment.nowMs,
    silentSinceMs: 0,
  };
  return decided([{ type: "outpost.joined", outpost }], outpost);
}

interface JoinClaim {
  readonly facts: OutpostFacts;
  readonly nowMs: number;
  readonly graceFromMs: number;
}

/** Two daemons that speak for one host would end each other's agents. */
function spokenFor(
  { outpost, seenAtMs }: OutpostEntry,
  { facts, nowMs, graceFromMs }: JoinClaim,
): Refusal | undefined {
  const heardMs = nowMs - Math.max(seenAtMs, graceFromMs);
  const isHere = outpost.silentSinceMs === 0 && heardMs < OUTPOST.livingMs;
  if (outpost.instance === facts.instance || !isHere) return undefined;
  const { host, machine } = outpost;
  const heard = `on ${machine}, heard ${Math.round(heardMs / 1000)} s ago`;
  const fix = "stop that one, or give this machine a token for another host";
  return refuse("ALREADY_EXISTS", `${host} has an outpost already (${heard}): ${fix}`);
}

/** The same as before where it is nearly the same: questions are known by when they were asked. */
function shiftOf(measuredMs: number, beforeMs: number): number {
  const apart = (ms: number) => Math.abs(measuredMs - ms);
  if (apart(0) <= OUTPOST.skewMs) return 0;
  return apart(beforeMs) <= OUTPOST.skewMs ? beforeMs : measuredMs;
}

interface Taking {
  readonly outpost: Outpost;
  readonly moment: Moment;
}

function take(
  state: State,
  command: TakeCommand,
  { outpost, moment }: Taking,
): Decision<Event, OutpostReplies["outpost.take"]> {
  const { from, to, reports, gone, host } = command;
  const refusal = invalid(
    atMost("reports", reports.length, OUTPOST.reportsAtOnce),
    atMost("gone", gone.length, OUTPOST.reportsAtOnce),
    atMost("jobs", command.jobs.length, OUTPOST.reportsAtOnce),
    atMost("jobsGone", command.jobsGone.length, OUTPOST.jobs),
    line("to", to, OUTPOST.cursorLength),
  );
  if (refusal) return refusal;
  if (from !== outpost.cursor) {
    const known = `${host} was taken up to "${outpost.cursor}", this goes on from "${from}"`;
    return refuse("WRONG_STATE", `${known}: join again`);
  }
  const { events, news, refused } = takeReports(state, { outpost, reports, gone }, moment);
  const { shiftMs } = outpost;
  const sent = { host, shiftMs, jobs: command.jobs, gone: command.jobsGone };
  const jobs = takeJobs(state, sent, moment);
  const took: Event[] = to === from ? [] : [{ type: "outpost.took", host, cursor: to }];
  const all = [...events, ...jobs.events, ...took];
  return decided(all, { news, refused: [...refused, ...jobs.refused] });
}

/** Why the caller is none that may speak for this host. */
export function notOfHost(host: string, by: By): Refusal | undefined {
  if (by.isOperator || by.principal.host === host) return undefined;
  return refuse("PERMISSION_DENIED", `${by.principal.name} may not speak for the host ${host}`);
}

/** Soft: an outpost was heard. */
export function hear(
  { outposts }: State,
  { host, session }: { readonly host: string; readonly session: string },
  nowMs: number,
): void {
  const entry = outposts.byHost.get(host);
  if (entry?.outpost.session === session) entry.seenAtMs = Math.max(entry.seenAtMs, nowMs);
}

export function evolveOutpost(state: State, event: OutpostEvent): void {
  const { outposts } = state;
  switch (event.type) {
    case "outpost.joined":
      remove(outposts, event.outpost.host);
      restoreOutpost(state, event.outpost);
      return;
    case "outpost.took": {
      const entry = outposts.byHost.get(event.host);
      if (entry) entry.outpost = { ...entry.outpost, cursor: event.cursor };
      return;
    }
    case "outpost.silent": {
      const entry = outposts.byHost.get(event.host);
      if (!entry) return;
      entry.outpost = { ...entry.outpost, silentSinceMs: event.sinceMs };
      outposts.deadlines.move(entry.timer, event.sinceMs + OUTPOST.forgottenMs);
      return;
    }
    case "outpost.forgotten":
      remove(outposts, event.host);
      return;
  }
}

export function restoreOutpost({ outposts }: State, outpost: Outpost): void {
  const { host, joinedAtMs, silentSinceMs } = outpost;
  const atMs =
    silentSinceMs > 0 ? silentSinceMs + OUTPOST.forgottenMs : joinedAtMs + OUTPOST.silentMs;
  const timer = outposts.deadlines.add(atMs, host);
  outposts.byHost.set(host, { outpost, seenAtMs: silentSinceMs || joinedAtMs, timer });
}

function remove(outposts: Outposts, host: string): void {
  const entry = outposts.byHost.get(host);
  if (!entry) return;
  outposts.deadlines.remove(entry.timer);
  outposts.byHost.delete(host);
}

export function dueOutpost(outposts: Outposts): number | undefined {
  return outposts.deadlines.nextAt();
}

export function expireOutpost(state: State, nowMs: number): readonly Event[] {
  const { outposts, graceFromMs, reports } = state;
  const entry = outposts.byHost.get(outposts.deadlines.takeDue(nowMs)?.value ?? "");
  if (!entry) return [];
  const { host, silentSinceMs } = entry.outpost;
  if (silentSinceMs > 0) {
    const known = [...reports.ofHost.of(host)];
    const over = known.flatMap((alias) => dismissReport(state, alias, nowMs));
    return [...over, ...jobsOver(state, host), { type: "outpost.forgotten", host }];
  }
  const silentAtMs = Math.max(entry.seenAtMs, graceFromMs) + OUTPOST.silentMs;
  if (silentAtMs > nowMs) {
    outposts.deadlines.move(entry.timer, silentAtMs);
    return [];
  }
  return [{ type: "outpost.silent", host, sinceMs: entry.seenAtMs, cause: "unheard" }];
}

function problemsOf({ instance, machine, version, share, accept }: OutpostFacts): Problem[] {
  return [
    key("instance", instance, OUTPOST.nameLength),
    line("machine", machine, OUTPOST.nameLength),
    line("version", version, OUTPOST.nameLength),
    SHARES.includes(share) ? undefined : `share is none of ${SHARES.join(", ")}`,
    ACCEPTS.includes(accept) ? undefined : `accept is none of ${ACCEPTS.join(", ")}`,
  ];
}

function clockProblem(clockMs: number): Problem {
  return Number.isSafeInteger(clockMs) && clockMs >= 0
    ? undefined
    : "clockMs is not a whole number from 0 up";
}
