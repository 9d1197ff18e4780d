/** The audit of shares: what each principal has is counted along with the things themselves. */
import { ownerOf } from "../../../src/core/by.ts";
import { lengthOf } from "../../../src/core/directory.ts";
import { isTerminal } from "../../../src/core/jobs/outcome.ts";
import { Holdings } from "../../../src/core/shares.ts";
import type { State } from "../../../src/core/state.ts";
import { isFinished, weightOf } from "../../../src/core/task-endings.ts";

export function shareProblems(state: State): string[] {
  const { agents, leases, elections, tasks, reports, jobs, policies, tokens, directory } = state;
  const living = [...agents.byId.values()].filter(({ agent }) => agent.status !== "dead");
  const unfinished = [...tasks.byId.values()].filter(({ task }) => !isFinished(task));
  const weights = unfinished.map(({ task }) => [ownerOf(task), weightOf(task)] as const);
  const groups = [...elections.byGroup.values()].filter(({ election }) => election.leader !== "");
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
      "groups",
      elections.led,
      groups.map(({ election }) => [ownerOf(election), 1]),
    ),
    ...miscounted(
      "policies",
      policies.holdings,
      Array.from(policies.byId.values(), (policy) => [ownerOf(policy), 1]),
    ),
    ...miscounted(
      "tokens",
      tokens.holdings,
      Array.from(tokens.byName.values(), ({ token }) => [ownerOf(token), 1]),
    ),
    ...miscounted(
      "entries",
      directory.holdings,
      Array.from(directory.byUrl.values(), ({ entry }) => [ownerOf(entry), 1]),
    ),
    ...miscounted(
      "cards",
      directory.lengths,
      Array.from(directory.byUrl.values(), ({ entry }) => [ownerOf(entry), lengthOf(entry)]),
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
