/**
 * Reports that an outpost sends. They are decided as those of every other source are, one by one: a
 * report that is refused does not hold up the others. An outpost is believed on its own host alone:
 * its aliases are WIRE@HOST:NAME, its agents end in @HOST, and both belong to the host, whichever
 * token the outpost has today.
 */
import { byOf } from "./by.ts";
import type { Moment } from "./decide.ts";
import type { ErrorCode } from "./errors.ts";
import type { Event } from "./events.ts";
import { OUTPOST } from "./limits.ts";
import type { Outpost } from "./outposts.ts";
import { DEFAULT_NAMESPACE, type Principal } from "./principals.ts";
import { isGone } from "./questions.ts";
import { withTimes } from "./report-news.ts";
import { hostOfAgent, hostOwner } from "./report-owners.ts";
import { decideNews, type Report } from "./reports.ts";
import type { State } from "./state.ts";
import { hostOf } from "./wires.ts";

/** A report that was not taken, and why. */
export interface Refused {
  readonly alias: string;
  readonly code: ErrorCode;
  readonly reason: string;
}

/** One message of an outpost. */
interface Sent {
  readonly outpost: Outpost;
  readonly reports: readonly Report[];
  readonly gone: readonly string[];
}

interface AcceptedReports {
  readonly events: readonly Event[];
  readonly news: number;
  readonly refused: readonly Refused[];
}

export function takeReports(state: State, sent: Sent, moment: Moment): AcceptedReports {
  const { outpost } = sent;
  const { host, shiftMs } = outpost;
  const asHost = { ...moment, by: byHost(host, moment) };
  const { byAlias, ofHost } = state.reports;
  const events: Event[] = [];
  const refused: Refused[] = [];
  const agents = new Set<string>();
  let [news, count] = [0, ofHost.of(host).size];
  const decide = (report: Report) => {
    const decision = decideNews(state, report, asHost);
    if (!decision.ok) {
      refused.push({ alias: report.alias, code: decision.code, reason: decision.reason });
      return;
    }
    if (decision.reply.isNew) news += 1;
    events.push(...decision.events);
  };
  for (const given of sent.reports) {
    const isKnown = byAlias.has(given.alias);
    const problem = problemOf(given, host) ?? (isKnown ? undefined : tooMany(host, count));
    if (problem) refused.push({ alias: given.alias, ...problem });
    else if (agents.has(given.agentId)) refused.push(repeated(given));
    else {
      agents.add(given.agentId);
      if (!isKnown) count += 1;
      decide(withTimes(given, (atMs) => Math.max(0, atMs + shiftMs)));
    }
  }
  for (const alias of sent.gone) {
    const report = byAlias.get(alias)?.report;
    const isIts = report?.owner === hostOwner(host);
    if (isIts && !isGone(report.facts.liveness.value)) decide(ended(report, moment.nowMs));
  }
  return { events, news, refused };
}

type ReportProblem = Omit<Refused, "alias">;

function problemOf({ alias, agentId, links }: Report, host: string): ReportProblem | undefined {
  const elsewhere =
    [alias, ...links].find((each) => hostOf(each) !== host) ??
    (hostOfAgent(agentId) === host ? undefined : agentId);
  if (elsewhere === undefined) return undefined;
  const reason = `${JSON.stringify(elsewhere)} is not on ${host}`;
  return { code: "PERMISSION_DENIED", reason };
}

function tooMany(host: string, count: number): ReportProblem | undefined {
  if (count < OUTPOST.reports) return undefined;
  const reason = `${host} already has ${count} reports, at most ${OUTPOST.reports} are kept`;
  return { code: "LIMIT_EXCEEDED", reason };
}

function repeated({ alias, agentId }: Report): Refused {
  const reason = `reports tell of ${agentId} twice: send the second one with the next take`;
  return { alias, code: "INVALID_ARGUMENT", reason };
}

/** Its host does not know it any more, so nobody will report its end. */
function ended(report: Report, nowMs: number): Report {
  const liveness = { value: "exited", rule: "its host no longer knows it" } as const;
  const { owner: _, ...told } = report;
  return { ...told, reportedAtMs: nowMs, order: nowMs, facts: { ...report.facts, liveness } };
}

/** The caller, in the name of its host: tokens come and go, the host's agents stay its own. */
function byHost(host: string, { by }: Moment) {
  const principal: Principal = {
    name: hostOwner(host),
    kind: "service",
    namespace: DEFAULT_NAMESPACE,
    roles: ["outpost"],
    host,
  };
  return byOf(principal, by.wire, by.peer);
}
