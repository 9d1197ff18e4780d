/** The audit of shares: what each principal has is counted along with the things themselves. */
import { ownerOf } from "../../../src/core/by.ts";
import { isTerminal } from "../../../src/core/jobs/outcome.ts";
import { Holdings } from "../../../src/core/shares.ts";
import type { State } from "../../../src/core/state.ts";
import { isFinished, weightOf } from "../../../src/core/task-endings.ts";

export function shareProblems({ agents, leases, tasks, reports, jobs }: State): string[] {
  const living = [...agents.byId.values()].filter(({ agent }) => agent.status !== "dead");
  const unfinished = [...tasks.byId.values()].filter(({ task }) => !isFinished(task));
  const weights = unfinished.map(({ task }) => [ownerOf(task), weightOf(task)] as const);
  const running = [...jobs.byId.values()].filter(({ job }) => !isTerminal(job.status));
  return [
    ...miscounted(
      "agents",
      agents.living,
      living.map(({ agent }) => [ownerOf(agent), 1]),
    ),
    ...miscounted(
      "leases",
      leases.holdings,
      Array.from(leases.byTask.values(), ({ lease }) => [ownerOf(lease), 1]),
    ),
    ...miscounted(
      "tasks",
      tasks.unfinished,
      unfinished.map(({ task }) => [ownerOf(task), 1]),
    ),
    ...miscounted("bytes of tasks", tasks.weights, weights),
    ...miscounted(
      "reports",
      reports.holdings,
      Array.from(reports.byAlias.values(), ({ report }) => [ownerOf(report), 1]),
    ),
    ...miscounted(
      "jobs",
      jobs.holdings,
      running.map(({ job }) => [job.principal, 1]),
    ),
  ];
}

function miscounted(
  noun: string,
  holdings: Holdings,
  owned: readonly (readonly [string, number])[],
): string[] {
  const counted = new Holdings();
  for (const [owner, amount] of owned) counted.add(owner, amount);
  const all = [...counted];
  const isRight = all.every(([owner, amount]) => holdings.of(owner) === amount);
  return isRight && [...holdings].length === all.length && holdings.total === counted.total
    ? []
    : [`${noun} are counted to the wrong owners`];
}
