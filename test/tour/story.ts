/**
 * All that a daemon knows, as far as it must be the same after the daemon was killed: without the
 * moments of heartbeats and reports, which go on.
 */
import type { AgentQuestion } from "../../src/fleet/inbox.ts";
import type { Row } from "../../src/fleet/row.ts";
import type {
  DirectoryList,
  ElectionRow,
  FleetList,
  LeaseRow,
  TaskList,
} from "../../src/wires/api/answers.ts";
import type { Scene } from "./scene.ts";

export interface Story {
  readonly rows: readonly string[];
  readonly questions: readonly string[];
  readonly leases: readonly string[];
  readonly elections: readonly string[];
  readonly tasks: readonly string[];
  readonly directory: readonly string[];
  readonly jobs: readonly string[];
}

interface JobList {
  readonly jobs: readonly {
    readonly id: string;
    readonly agent: string;
    readonly status: string;
  }[];
}

/** One line per thing, so that what differs is read at a glance. */
export async function storyOf(scene: Scene): Promise<Story> {
  const get = async <Answer>(path: string) => (await scene.client.get(path)) as unknown as Answer;
  const { rows } = await get<FleetList>("/v1/fleet");
  const asked = await get<{ questions: AgentQuestion[] }>("/v1/questions?state=open");
  const held = await get<{ leases: LeaseRow[] }>("/v1/leases");
  const groups = await get<{ elections: ElectionRow[] }>("/v1/elections");
  const { tasks } = await get<TaskList>("/v1/tasks");
  const { entries } = await get<DirectoryList>("/v1/directory");
  const { jobs } = await get<JobList>("/v1/jobs");
  return {
    // In any order: what works again after a restart has come last.
    rows: rows.map(rowLine).toSorted(),
    questions: asked.questions.map(({ id, name, text }) => `${id} ${name}: ${text}`),
    leases: held.leases.map(({ taskId, holder, token }) => `${taskId} ${holder} ${token}`),
    elections: groups.elections.map(({ group, leader, term }) => `${group} ${leader} ${term}`),
    tasks: tasks.map((task) => `${task.id} ${task.status} ${task.claimedBy} ${task.token}`),
    directory: entries.map(({ url, tier, name }) => `${url} ${tier} ${name}`),
    jobs: jobs.map(({ id, agent, status }) => `${id} ${agent} ${status}`),
  };
}

function rowLine({ id, headline, why, liveness, activity, aliases }: Row): string {
  const axes = `${liveness.value} by ${liveness.evidence.wire}, ${activity.value}`;
  return `${id} ${headline} ${why} (${axes}) = ${aliases.join(" ")}`;
}
