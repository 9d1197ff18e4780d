/**
 * The victim: an ARCP runtime on the SQLite file it is given, at the port it is given, until it is
 * killed. Its agents count: a number every turn of the loop or so, and the last one as the result.
 */
import { writeSync } from "node:fs";
// tidy-allow sleep: agents that take their time, so that a kill finds them at work
import { setTimeout as pause } from "node:timers/promises";
import { ArcpRuntime, serveWebSocket, sqliteStore, staticTokens } from "../../dist/lib/arcp.js";

const [path = "", port = "0"] = process.argv.slice(2);
const store = sqliteStore({ path });
await store.log.open();

/**
 * @param {unknown} input
 * @param {import("../../dist/lib/arcp.js").JobContext} job
 */
async function count(input, job) {
  const end = Number(input);
  for (let n = 0; n < end; n += 1) {
    await job.log("info", String(n));
    if (n % 4 === 0) await pause(1);
  }
  return end;
}

const runtime = new ArcpRuntime({
  runtime: { name: "victim", version: "1.0.0" },
  bearer: staticTokens({ token: "tester" }),
  store,
  // Fewer than there are jobs: the kills find some that run, and some that still wait.
  limits: { running: 40 },
});
runtime.registerAgent("mortal", count);
runtime.registerAgent("phoenix", count, { restart: "always" });
await runtime.start();
const door = await serveWebSocket((transport) => runtime.accept(transport), { port: Number(port) });
writeSync(1, `${door.url}\n`);
