/**
 * The last reports of an outpost that has gone silent. It is unknown what its agents do
 * now, and silence proves no end: they are stale since the host was last heard, and at once as they
 * were when it is heard again. Nothing is recorded for each agent: one event tells it of the host.
 */
import { reportingHost } from "../core/report-owners.ts";
import { isGone } from "../core/questions.ts";
import type { Report } from "../core/reports.ts";
import type { State } from "../core/state.ts";

export function asHostTells({ outposts }: State, report: Report | undefined): Report | undefined {
  if (report?.owner === undefined) return report;
  const host = reportingHost(report);
  const outpost = host === undefined ? undefined : outposts.byHost.get(host)?.outpost;
  const { value } = report.facts.liveness;
  if (!outpost || outpost.silentSinceMs === 0 || value === "stale" || isGone(value)) return report;
  const liveness = { value: "stale", rule: `its host ${outpost.host} is silent` } as const;
  const facts = { ...report.facts, liveness };
  return { ...report, reportedAtMs: outpost.silentSinceMs, facts };
}
