/**
 * Jobs over HTTP: who has what done by whom, and how it went. To submit, follow and cancel them is
 * ARCP's; whoever asks one for `text/event-stream` hears how it goes until it is over.
 */
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono } from "hono";
import { z } from "zod";
import { RollcallError } from "../../core/errors.ts";
import { summaryOf, type Job, type JobEntry, type JobSummary } from "../../core/jobs.ts";
import { isTerminal } from "../../core/jobs/outcome.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Watch } from "../../engine/watch.ts";
import { factFrame } from "./event-frames.ts";
import { matching, pageOf, sendPage, type Order } from "./pages.ts";
import { LIST_QUERY, queryOf, wantsStream } from "./parse.ts";
import type { Frames, Source, Streams } from "./sse.ts";

const STATUSES = ["pending", "running", "success", "error", "cancelled", "timed_out"] as const;

const LIST = z.strictObject({
  ...LIST_QUERY,
  status: z.array(z.enum(STATUSES)),
  /** A bare name means every version of it. */
  agent: z.string().optional(),
  principal: z.string().optional(),
  idPrefix: z.string().default(""),
});

/** The first to come first. */
const ORDER: Order<JobSummary> = {
  atMs: ({ submittedAtMs }) => submittedAtMs,
  key: ({ id }) => id,
};

export interface JobRoutesOptions {
  readonly engine: Engine;
  readonly streams: Streams;
}

export function jobRoutes(options: JobRoutesOptions): Hono<{ Bindings: HttpBindings }> {
  const { engine, streams } = options;
  const routes = new Hono<{ Bindings: HttpBindings }>();
  routes.get("/jobs", async (c) => {
    const { status, agent, principal, idPrefix, ...asked } = queryOf(c, LIST);
    const isWanted = (job: JobSummary) =>
      (status.length === 0 || status.includes(job.status)) &&
      (agent === undefined || job.agent === agent || job.agent.startsWith(`${agent}@`)) &&
      (principal === undefined || job.principal === principal) &&
      job.id.startsWith(idPrefix);
    const found = await engine.read(({ jobs }, sequence) => {
      const page = pageOf(matching(jobsOf(jobs.byId.values()), isWanted), ORDER, asked);
      return { sequence, page };
    });
    return sendPage(c, { name: "jobs", order: ORDER, ...found });
  });
  routes.get("/jobs/:jobId", async (c) => {
    queryOf(c, z.strictObject({}));
    const jobId = c.req.param("jobId");
    const found = await jobNow(engine, jobId);
    if (!found) throw new RollcallError("NOT_FOUND", `no job ${jobId}`);
    if (!wantsStream(c)) return c.json({ ...found, job: summaryOf(found.job) });
    await streams.send(c.env.outgoing, () => jobSource(engine, jobId));
    return RESPONSE_ALREADY_SENT;
  });
  return routes;
}

function* jobsOf(entries: Iterable<JobEntry>): Generator<JobSummary> {
  for (const { job } of entries) yield summaryOf(job);
}

interface JobNow {
  readonly job: Job;
  readonly sequence: number;
}

function jobNow(engine: Engine, jobId: string): Promise<JobNow | undefined> {
  return engine.read(({ jobs }, sequence) => {
    const job = jobs.byId.get(jobId)?.job;
    return job && { job, sequence };
  });
}

/** `job` as it is, and whenever it is another; ends with the one that is over. */
function jobSource(engine: Engine, jobId: string): Source {
  const watch = engine.watch({ prefixes: ["job."] });
  const frames = jobFrames(engine, watch, jobId);
  return { frames, cut: watch.cut, close: () => watch.close() };
}

async function* jobFrames(engine: Engine, watch: Watch, jobId: string): Frames {
  let told: Job | undefined;
  do {
    const now = await jobNow(engine, jobId);
    if (!now) return;
    if (now.job !== told)
      yield factFrame("job", { sequence: now.sequence, job: summaryOf(now.job) });
    told = now.job;
    if (isTerminal(told.status)) return;
  } while ((await watch.pull()).length > 0);
}
