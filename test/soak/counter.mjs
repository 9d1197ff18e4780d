/** An agent that counts, slowly enough for a kill to find it at work. */
// tidy-allow sleep: an agent that takes its time is what is looked at
import { setTimeout as pause } from "node:timers/promises";

/**
 * @param {number} input
 * @param {import("rollcall/arcp").JobContext} job
 */
export async function agent(input, job) {
  for (let n = 0; n < input; n += 1) {
    await job.log("info", String(n));
    if (n % 4 === 0) await pause(1);
  }
  return input;
}
