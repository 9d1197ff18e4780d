/**
 * Loaded into the soaked daemon: collects garbage at SIGUSR2. V8 takes its time to give memory
 * back; the question is what is still held.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");
process.on("SIGUSR2", () => collect());
