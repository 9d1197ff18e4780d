/**
 * Loaded into the soaked daemon, for what can only be told from within: how much its main thread
 * had worked when it came to a request, as a header of the answer; and what is still held, once its
 * garbage is collected, at SIGUSR2, because V8 takes its time to give memory back.
 */
import { subscribe } from "node:diagnostics_channel";
import { readFileSync, writeFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** @import { IncomingMessage, ServerResponse } from "node:http" */

const { SOAK_COLLECTED: file = "" } = process.env;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");
process.on("SIGUSR2", () => {
  collect();
  writeFileSync(file, "");
});

subscribe("http.server.request.start", (message) => {
  const told = /** @type {{ request: IncomingMessage, response: ServerResponse }} */ (message);
  if (told.request.url !== "/healthz") return;
  const [ns = ""] = readFileSync("/proc/thread-self/schedstat", "utf8").split(" ");
  told.response.setHeader("Soak-Worked-Ns", ns);
});
