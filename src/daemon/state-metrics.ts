/**
 * Gauges of the state's size. Each is a count that an index has already, so that a scrape costs
 * the same with ten agents and with a million.
 */
import { COUNT } from "../core/limits.ts";
import type { State } from "../core/state.ts";

export interface StateGauge {
  readonly name: string;
  readonly help: string;
  /** Of its values, when there are several; the keys of `read` are its values. */
  readonly label?: string;
  readonly read: (state: State, nowMs: number) => number | Readonly<Record<string, number>>;
}

export const STATE_GAUGES: readonly StateGauge[] = [
  {
    name: "agentkeeper_agents_alive",
    help: "Agents alive or unreachable.",
    read: ({ agents }) => agents.deadlines.size,
  },
  {
    name: "agentkeeper_leases_active",
    help: "Leases held.",
    read: ({ leases }) => leases.byTask.size,
  },
  {
    name: "rollcall_agents",
    help: "Agents by status; the dead are kept for a day.",
    label: "status",
    read: ({ agents }) => ({
      alive: agents.deadlines.size - agents.unreachable.size,
      unreachable: agents.unreachable.size,
      dead: agents.graves.size,
    }),
  },
  {
    name: "rollcall_outposts",
    help: "Outposts that report here, and those that are silent.",
    label: "state",
    read: ({ outposts }) => {
      let silent = 0;
      for (const { outpost } of outposts.byHost.values())
        silent += outpost.silentSinceMs > 0 ? 1 : 0;
      return { here: outposts.byHost.size - silent, silent };
    },
  },
  {
    name: "rollcall_directory_entries",
    help: "Agents in the directory; the cards of those that are served were fetched.",
    read: ({ directory }) => directory.byUrl.size,
  },
  {
    name: "rollcall_directory_card_bytes",
    help: "Size of the directory's cards in memory, in characters.",
    read: ({ directory }) => directory.lengths.total,
  },
  {
    name: "rollcall_tasks",
    help: "Tasks by status; the completed and the dead (out of retries) are kept for a day.",
    label: "status",
    read: ({ tasks }) => ({
      pending: tasks.pending.size,
      claimed: tasks.claims.size,
      completed: tasks.finished.size - tasks.dead,
      dead: tasks.dead,
    }),
  },
  {
    name: "rollcall_task_bytes",
    help: "Size of tasks in memory, as base64.",
    label: "state",
    read: ({ tasks }) => ({ unfinished: tasks.unfinishedBytes, finished: tasks.finishedBytes }),
  },
  {
    name: "rollcall_task_oldest_pending_seconds",
    help: "Age of the task that has waited longest in the queue; 0 when none waits.",
    read: oldestPendingSeconds,
  },
  {
    name: "rollcall_election_groups",
    help: "Election groups; groups without candidates are kept for a day.",
    read: ({ elections }) => elections.byGroup.size,
  },
  {
    name: "rollcall_election_leaders",
    help: "Election groups that have a leader.",
    read: ({ elections }) => elections.byGroup.size - elections.empty.size,
  },
  {
    name: "rollcall_policies",
    help: "Policies set.",
    read: ({ policies }) => policies.byId.size,
  },
  {
    name: "rollcall_jobs",
    help: "Jobs by status; jobs that ended are kept for a day.",
    label: "status",
    read: ({ jobs }) => ({
      pending: jobs.unfinished - jobs.running,
      running: jobs.running,
      over: jobs.ended.size,
    }),
  },
  {
    name: "rollcall_limit",
    help: "How many there may be at once; more are refused.",
    label: "of",
    read: () => ({
      agents: COUNT.agents,
      leases: COUNT.leases,
      election_groups: COUNT.groups,
      policies: COUNT.policies,
      unfinished_tasks: COUNT.unfinishedTasks,
      unfinished_task_bytes: COUNT.taskBytes,
      unfinished_jobs: COUNT.unfinishedJobs,
    }),
  },
];

function oldestPendingSeconds({ tasks }: State, nowMs: number): number {
  const [oldest = ""] = tasks.pending.oldest(1);
  const createdAtMs = tasks.byId.get(oldest)?.task.createdAtMs ?? nowMs;
  return Math.max(0, nowMs - createdAtMs) / 1000;
}
