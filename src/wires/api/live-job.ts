/** One job as it goes, for server-sent events. */
import type { By } from "../../core/by.ts";
import { codeOf } from "../../core/errors.ts";
import { summaryOf } from "../../core/job-listing.ts";
import type { Job } from "../../core/jobs.ts";
import { isTerminal } from "../../core/jobs/outcome.ts";
import { sightOf } from "../../core/visibility.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Watch } from "../../engine/watch.ts";
import { jobNow } from "../../operations/jobs.ts";
import { factFrame } from "./event-frames.ts";
import type { Frames, SseSource } from "./sse.ts";

/** `job` as it is, and whenever it is another; ends with the one that is over. */
export function jobSource(engine: Engine, jobId: string, by: By): SseSource {
  const watch = engine.watch({ prefixes: ["job."], by });
  const sight = sightOf(by.principal);
  const frames = jobFrames(watch, () => jobNow(engine, jobId, sight));
  return { frames, cut: watch.cut, close: () => watch.close() };
}

async function* jobFrames(watch: Watch, look: () => ReturnType<typeof jobNow>): Frames {
  let told: Job | undefined;
  do {
    const now = await look().catch(unlessGone);
    if (!now) return;
    if (now.job !== told) yield factFrame("job", { ...now, job: summaryOf(now.job) });
    told = now.job;
    if (isTerminal(told.status)) return;
  } while ((await watch.pull()).length > 0);
}

/** A job that is forgotten ends its stream. */
function unlessGone(error: unknown): undefined {
  if (codeOf(error) !== "NOT_FOUND") throw error;
}
