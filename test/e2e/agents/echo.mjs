/** An agent in the daemon's own process: gives back what it gets. */

/**
 * @param {unknown} input
 * @param {import("rollcall/arcp").JobContext} job
 */
export async function agent(input, job) {
  await job.log("info", "echo started");
  return { echoed: input ?? null };
}
