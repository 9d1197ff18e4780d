/**
 * A process that has ended says nothing more. Several sources speak for one process: the proxy that
 * runs in it, the status file that it writes. The reader of the file can see that the process is
 * gone; the proxy was killed with it, and its last report may still be under way. So an end that
 * one source of an agent proved is the end for all of them, whenever their reports arrive.
 */
import { isGone } from "./questions.ts";
import { countsFor } from "./report-owners.ts";
import type { Report } from "./reports.ts";
import type { State } from "./state.ts";

/** As it is told, or over, where another source proved that its process has ended. */
export function withProvenEnd(state: State, report: Report): Report {
  if (isGone(report.facts.liveness.value)) return report;
  const proof = othersOf(state, report).find(
    (other) => countsFor(other, report) && isEndOf(other, report),
  );
  return proof ? endedBy(proof, report) : report;
}

/** The last reports of other sources on the process that this report proves ended, now as ended. */
export function endedWith(state: State, proof: Report): readonly Report[] {
  if (!proof.facts.process?.hasEnded) return [];
  return othersOf(state, proof)
    .filter((other) => countsFor(proof, other) && isEndOf(proof, other))
    .filter((other) => !isGone(other.facts.liveness.value))
    .map((other) => endedBy(proof, other));
}

/** The last reports of the agent's other sources. */
export function othersOf({ reports }: State, { agentId, alias }: Report): readonly Report[] {
  return Array.from(reports.byAgent.of(agentId)).flatMap((other) =>
    other === alias ? [] : (reports.byAlias.get(other)?.report ?? []),
  );
}

/** Starts are told in whole seconds, by clocks that are corrected now and then. */
const SAME_START_MS = 2_000;

/** Without a start a number proves nothing. */
function isEndOf(proof: Report, { facts }: Report): boolean {
  const [ended, other] = [proof.facts.process, facts.process];
  if (!ended?.hasEnded || ended.pid !== other?.pid) return false;
  const apartMs = (ended.startedAtMs ?? NaN) - (other.startedAtMs ?? NaN);
  return Math.abs(apartMs) <= SAME_START_MS;
}

function endedBy({ reportedAtMs }: Report, report: Report): Report {
  const liveness = { value: "exited", rule: "its process is gone" } as const;
  return { ...report, reportedAtMs, facts: { ...report.facts, liveness } };
}
