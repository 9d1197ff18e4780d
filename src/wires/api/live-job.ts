/** One job as it goes, for server-sent events. */
import type { By } from "../../core/by.ts";
import { codeOf } from "../../core/errors.ts";
import { placeOfJob } from "../../core/host-jobs.ts";
import { isTerminal } from "../../core/jobs/outcome.ts";
import { sightOf } from "../../core/visibility.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Watch } from "../../engine/watch.ts";
import { jobNow } from "../../operations/jobs.ts";
import { factFrame } from "./event-frames.ts";
import type { Frames, SseSource } from "./sse.ts";

/** The id of the last event: a browser that heard it comes back with it. */
export const OVER = "over";
const LAST = Buffer.from(`id: ${OVER}\nevent: ${OVER}\ndata: {}\n\n`);

/** `job` as it is, and whenever it is another; `over` behind the one that is. */
export function jobSource(engine: Engine, jobId: string, by: By): SseSource {
  const noun = placeOfJob(jobId) ? "outpost." : "job.";
  const watch = engine.watch({ prefixes: [noun], by });
  const sight = sightOf(by.principal);
  const frames = jobFrames(watch, () => jobNow(engine, jobId, sight));
  return { frames, cut: watch.cut, close: () => watch.close() };
}

async function* jobFrames(watch: Watch, look: () => ReturnType<typeof jobNow>): Frames {
  let told = "";
  do {
    const now = await look().catch(unlessGone);
    const job = JSON.stringify(now?.job);
    if (now && job !== told) yield factFrame("job", now);
    told = job;
    if (!now || isTerminal(now.job.status)) {
      yield LAST;
      return true;
    }
  } while ((await watch.pull()).length > 0);
  return false;
}

/** A job that is forgotten ends its stream, too. */
function unlessGone(error: unknown): undefined {
  if (codeOf(error) !== "NOT_FOUND") throw error;
}
