/**
 * Loaded into the soaked daemon, for what can only be told from within: how much its main thread
 * had worked when it came to a request, as a header of the answer; and, at SIGUSR2, what is still
 * held once its garbage is collected. The inspector's collection goes on until there is no more to
 * free and gives the room back: after one `gc()` V8 keeps up to 32 MiB for new objects, and buffers
 * that it found dead are only freed by the next one. malloc keeps even more (`trim.c`).
 */
import { subscribe } from "node:diagnostics_channel";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector";

/** @import { IncomingMessage, ServerResponse } from "node:http" */

const { SOAK_COLLECTED: file = "", SOAK_TRIM: trim = "" } = process.env;

const inspector = new Session();
inspector.connect();
process.on("SIGUSR2", () => {
  inspector.post("HeapProfiler.collectGarbage", () => {
    process.dlopen({ exports: {} }, trim);
    // By another name first: whoever finds the file finds it whole.
    writeFileSync(`${file}.new`, JSON.stringify(process.memoryUsage()));
    renameSync(`${file}.new`, file);
  });
});

subscribe("http.server.request.start", (message) => {
  const told = /** @type {{ request: IncomingMessage, response: ServerResponse }} */ (message);
  if (told.request.url !== "/healthz") return;
  const [ns = ""] = readFileSync("/proc/thread-self/schedstat", "utf8").split(" ");
  told.response.setHeader("Soak-Worked-Ns", ns);
});
