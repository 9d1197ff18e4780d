/**
 * Asks /healthz of the soaked daemon, in a process of its own: that of the test is busy with its
 * clients and attacks, and would take its own delays for the daemon's. Of each answer it tells how
 * long it took by the clock, and how much the daemon's main thread worked before it came to the
 * request: on a busy machine a program waits for its turn, too, and that is not its doing.
 */
import { readFileSync } from "node:fs";
import { get } from "node:http";
// tidy-allow sleep: a probe has a pace
import { setTimeout as pause } from "node:timers/promises";

/** @import { Subject } from "./health.ts" */

const PACE_MS = 50;
const PATIENCE_MS = 10_000;

/** @type {Subject | undefined} */
let subject;
process.on("message", (/** @type {{ subject?: Subject }} */ told) => ({ subject } = told));
process.on("disconnect", () => process.exit());

for (;;) {
  await pause(PACE_MS);
  // It may be killed meanwhile.
  if (subject) await probe(subject).catch(() => undefined);
}

/** @param {Subject} asked */
async function probe({ era, pid, url, bareUrl }) {
  const [beforeNs] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ");
  const { tookMs, headers } = await answered(url);
  const { "soak-worked-ns": thenNs } = headers;
  const workMs = thenNs === undefined ? tookMs : (Number(thenNs) - Number(beforeNs)) / 1e6;
  const { tookMs: bareMs } = await answered(bareUrl);
  process.send?.({ era, tookMs, workMs, bareMs });
}

/**
 * One that is not answered took as long as was waited.
 *
 * @param {string} url
 * @returns {Promise<{ tookMs: number, headers: import("node:http").IncomingHttpHeaders }>}
 */
function answered(url) {
  const fromMs = performance.now();
  return new Promise((resolve) => {
    const over = (headers = {}) => resolve({ tookMs: performance.now() - fromMs, headers });
    const request = get(url, { agent: false, timeout: PATIENCE_MS }, (response) => {
      response.resume().on("close", () => over(response.headers));
    });
    request.on("timeout", () => request.destroy());
    request.on("error", () => over());
  });
}
