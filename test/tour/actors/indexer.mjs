/**
 * An agent that the daemon hosts, and that jobs run on: it reads a folder, tells how far it is, and
 * is done when the file appears that TOUR_GATE names.
 */
import { existsSync, watch } from "node:fs";
import { basename, dirname } from "node:path";

const FILES = 400;
const FIRST = 120;
const gate = process.env["TOUR_GATE"] ?? "";

/** @param {AbortSignal} signal */
async function gateOpens(signal) {
  await new Promise((resolve) => {
    const look = () => {
      if (!existsSync(gate) && !signal.aborted) return;
      watcher.close();
      resolve(undefined);
    };
    const watcher = watch(dirname(gate), look);
    signal.addEventListener("abort", look, { once: true });
    look();
  });
  signal.throwIfAborted();
}

/**
 * @param {unknown} input
 * @param {import("rollcall/arcp").JobContext} job
 */
export async function agent(input, job) {
  const folder = basename(String(input));
  await job.log("info", `reading ${folder}`);
  await job.progress(FIRST, { total: FILES, units: "files" });
  await gateOpens(job.signal);
  await job.progress(FILES, { total: FILES, units: "files" });
  return `${FILES} files of ${folder} are indexed`;
}
