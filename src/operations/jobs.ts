/** Jobs: who has what done by whom, and how it went. ARCP submits, follows and cancels them. */
import { z } from "zod";
import { type Order, pageOf } from "../core/pages.ts";
import { RollcallError } from "../core/errors.ts";
import { jobSummary, type HostJob } from "../core/host-jobs.ts";
import { JOB_STATUSES } from "../core/jobs/outcome.ts";
import type { Job } from "../core/jobs.ts";
import { seesJob, sightOf, type Sight } from "../core/visibility.ts";
import type { Engine } from "../engine/engine.ts";
import { AT, moment, prefix, SEQUENCE, someOf, text, whole } from "./fields.ts";
import { FILTERED, listJson, listPage, matching, PAGE } from "./lists.ts";
import { momentOf } from "./moments.ts";
import { operation, type Uses } from "./operation.ts";

const JOB_ID = text("The job's id", "job_01KZ4TA0");

export const JOB = z
  .strictObject({
    id: JOB_ID,
    agent: text("NAME@VERSION, or the bare name", "indexer"),
    principal: text("For whom it is done", "local"),
    node: text("The daemon that runs it"),
    host: text("The machine whose outpost tells of it; empty for one of this daemon"),
    silentSinceMs: moment("Since when that machine is silent; 0 while it is heard"),
    parent: text("The job that delegated it; empty for none"),
    status: z.enum(JOB_STATUSES),
    submittedAtMs: moment("When it was submitted"),
    startedAtMs: moment("When it started; 0 until then"),
    endedAtMs: moment("When it ended; 0 until then"),
    restarts: whole("How often it was started anew because its daemon had died"),
    code: text("Why it did not succeed, as a code; empty where it did"),
    reason: text("The same as a sentence"),
  })
  .meta({ id: "Job" });

/** The first to come first. */
const ORDER: Order<Pick<Job, "id" | "submittedAtMs">> = {
  atMs: ({ submittedAtMs }) => submittedAtMs,
  key: ({ id }) => id,
};

const list = operation({
  path: "/v1/jobs",
  effect: "reads",
  access: { action: "job.read", resource: "job:*" },
  brief: "List the jobs",
  about:
    "List the jobs of all daemons, the oldest first; those that ended, for a day. Now, or at a " +
    "moment of the past.",
  input: z.strictObject({
    ...PAGE,
    status: someOf(JOB_STATUSES),
    agent: text("Only of this agent; a bare name means every version").optional(),
    principal: text("Only those done for this principal").optional(),
    host: text("Only those of this machine, as its outpost tells").optional(),
    idPrefix: prefix("Only ids with this prefix"),
    at: AT,
  }),
  output: z.strictObject({
    sequence: FILTERED.sequence,
    atMs: moment("Of which moment it is"),
    total: FILTERED.total,
    cursor: FILTERED.cursor,
    isPartial: FILTERED.isPartial,
    jobs: z.array(JOB),
  }),
  async run({ engine, fleet }: Uses<"engine" | "fleet">, { at, ...input }, { by }) {
    const sight = sightOf(by.principal);
    const { status, agent, principal, host, idPrefix, ...wanted } = input;
    const isWanted = (job: Job | HostJob) =>
      (status.length === 0 || status.includes(job.status)) &&
      (agent === undefined || job.agent === agent || job.agent.startsWith(`${agent}@`)) &&
      (principal === undefined || job.principal === principal) &&
      (host === undefined || ("host" in job && job.host === host)) &&
      job.id.startsWith(idPrefix);
    const thenMs = momentOf(at);
    if (thenMs !== undefined) {
      const { jobs: all, sequence, atMs } = await fleet.at(thenMs);
      const { items, ...page } = pageOf(matching(all, isWanted), ORDER, wanted);
      return { sequence, atMs, ...page, jobs: items };
    }
    // Of principals of other machines there is no list.
    const isOthers =
      principal !== undefined && (principal.includes("@") || !seesJob(sight, { principal }));
    const filters = [agent, host].some((each) => each !== undefined);
    const isFiltered = status.length > 0 || filters || isOthers || idPrefix !== "";
    const { nowMs: atMs } = engine;
    const { items, ...facts } = await listPage(
      {
        engine,
        list: (lists) => lists.jobsSeen(isOthers ? sight : { owner: principal ?? sight.owner }),
        isWanted: isFiltered ? ({ job }) => isWanted(job) : undefined,
        show: ({ job }, state) => jobSummary(state, job),
      },
      wanted,
    );
    return { atMs, ...facts, jobs: items };
  },
  json: listJson("jobs", ORDER),
});

const get = operation({
  path: "/v1/jobs/{jobId}",
  effect: "reads",
  access: { action: "job.read", resource: "job:{jobId}" },
  brief: "Show one job",
  about: "Show one job: for whom it is done, by which agent, and how it is.",
  input: z.strictObject({ jobId: JOB_ID }),
  output: z.strictObject({ job: JOB, sequence: SEQUENCE }),
  run: async ({ engine }: Uses<"engine">, { jobId }, { by }) =>
    jobNow(engine, jobId, sightOf(by.principal)),
});

export const jobs = { list, get } as const;

/** Rejects where there is none that is seen; those of machines are by all that see everything. */
export async function jobNow(engine: Engine, jobId: string, sight: Sight) {
  const found = await engine.read((state, sequence) => {
    const hosted = sight.owner === undefined ? state.hostJobs.byId.get(jobId)?.job : undefined;
    const job = hosted ?? state.jobs.byId.get(jobId)?.job;
    return job && seesJob(sight, job) ? { sequence, job: jobSummary(state, job) } : undefined;
  });
  if (!found) throw new RollcallError("NOT_FOUND", `no job ${jobId}`);
  return found;
}
