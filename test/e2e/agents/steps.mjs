/** An agent that says how far it is until it is told to stop, and asks when it is told to. */
// tidy-allow sleep: an agent that takes its time is what is looked at
import { setTimeout as pause } from "node:timers/promises";

/**
 * @param {{ steps?: number, asks?: boolean }} input
 * @param {import("rollcall/arcp").JobContext} job
 */
export async function agent({ steps = 1_000_000, asks = false }, job) {
  if (asks) await job.status("awaiting_approval", "may I go on?");
  for (let i = 1; i <= steps && !job.signal.aborted; i += 1) {
    if (!asks) await job.progress(i, { total: steps, units: "files" });
    await pause(50, undefined, { signal: job.signal }).catch(() => undefined);
  }
  return "done";
}
